"""The data source `fluss` without the jar.

data_source     FlussDataSource: the door
readers         bounded reads
stream_readers  streams
writers         writes
no_streams      what Spark 4.1 cannot do
"""
