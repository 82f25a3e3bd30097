"""Apache Iceberg, by pyiceberg. Nothing outside of this folder imports it.

format             IcebergFormat: the door
catalog            our table → an Iceberg table: schema, partition spec, sort order, properties; new columns
types              column types → Iceberg types, Arrow rows → the rows of a data file
layout             how a table is partitioned, and the partition of a place
data_writer        rows → Parquet files, rolled by size
table              IcebergTable: snapshots read, rounds committed
"""
