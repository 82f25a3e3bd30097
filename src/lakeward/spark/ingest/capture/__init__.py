"""Databases as data sources of Spark: `lakeward.mysql`, `lakeward.postgres`.

| module | what it holds |
|---|---|
| capture_source | the data sources |
| capture_options | what their options may say |
| capture_reader | the rows as they are now |
| capture_stream | … and as a stream: the offset is the progress of the capture |
| kept_databases | databases that tasks leave open for the next micro-batch |
| captured_rows | events → batches: the rows of a table in declared columns, or envelopes |
"""
