"""Formats: messages of a queue ↔ rows. Nothing here knows Kafka or Spark.

port            Decoder, Encoder: what every format offers; Decoded, BadMessage
door/           format_of: a format by its name, and the options of all of them
json/           objects of JSON
csv/            lines with delimiters
raw/            a message is the value of the only column
avro/           records of Avro, with and without a schema registry
changes/        changes of databases as JSON: Debezium's, Canal's
values/         values in their messages → columns: what formats of text share
"""
