"""Avro: records, alone or with the number of their schema, which a schema registry knows.

avro_options     the rows of `avro` and `avro-confluent`
avro_schema      columns → the schema of a record
avro_values      records → columns
avro_codec       `avro`: messages that are a record of the table's own schema
confluent_codec  `avro-confluent`: messages that begin with the number of their schema
schema_registry  the registry, over HTTP; what it said once is known
"""
