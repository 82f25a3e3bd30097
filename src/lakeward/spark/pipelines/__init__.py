"""Runs pipelines: one streaming query each over the envelopes of a database, written batch by batch.

    envelopes ─ foreachBatch ─ write.batch_writer ─┬─ tasks: write.event_writer ─ sinks ─ tables
                                                   └─ tables with expressions: write.computed_table, by Spark SQL

| room | what it holds |
|---|---|
| run | pipelines that run: their start, failures, pauses, records |
| write | one micro-batch, from envelopes to the sink |
| sinks | Fluss, Kafka, Iceberg, print |
| source | PipelineSource: the database of a pipeline |
"""
