"""Kafka as a source and a sink of Spark, by librdkafka.

On the driver, Cluster asks brokers for topics and offsets, and Offsets plan what a micro-batch reads. A task consumes a
range in large lists, and MessageRows make batches of them by a format.

| module | what it holds |
|---|---|
| kafka_source | the data source `lakeward.kafka`: the door |
| kafka_readers | bounded reads; Reading: what both kinds need |
| kafka_stream | streams |
| kafka_writers | writes, by tasks |
| starts | where streams begin and end |
| range_reader | a range of a partition, in lists of messages |
| sending | records into topics, in transactions where asked |
| brokers | how to reach brokers, what is asked of them, and their errors |
| messages | messages ↔ rows |
| ground | options and offsets, which need no broker |
"""
