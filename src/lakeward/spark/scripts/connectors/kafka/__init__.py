"""The connectors `kafka` and `upsert-kafka`: topics as tables.

kafka_connector   both connectors
kafka_table       what a table says → options of the data source
topic_source      reading
topic_sink        writing
"""
