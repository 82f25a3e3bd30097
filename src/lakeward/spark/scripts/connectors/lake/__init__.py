"""The connectors `iceberg` and `paimon`: tables of a lake, read as they are there.

| module | what it holds |
|---|---|
| lake_connector | the connectors |
| lake_options | their rows |
| opened_lake | a lake's catalog and tables, as options name them |
| lake_rows | what travels to the tasks, and the rows they read |
| lake_source | the data source of Spark over our readers of lakes |
| lake_stream | … as a stream |
"""
