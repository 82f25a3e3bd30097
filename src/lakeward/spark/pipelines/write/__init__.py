"""One micro-batch, from envelopes to the sink.

| module | what it holds |
|---|---|
| batch_writer | BatchWriter: what `foreachBatch` calls, on the driver |
| write_task | the tasks: envelopes in, a report out |
| event_writer | EventWriter: events in their order → a sink's writer |
| computed_table | tables with expressions: decoded, computed by Spark SQL, written |
| report | what tasks tell the driver |
"""
