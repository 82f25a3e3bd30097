"""The connector `fluss`: tables of a cluster, read and written through the catalog of the jar.

| module | what it holds |
|---|---|
| fluss_connector | the connector: tables made where they are absent |
| fluss_options | its rows, and a table's options by what they are for |
| new_table | a definition → the table that a cluster is asked for, with what it cannot have told |
| table_changes | ALTER TABLE |
| fluss_source | rows of a table, as a batch and as a stream |
| fluss_sink | rows into a table, exactly once |
| table_origin | which table it is, for checkpoints |
| spark_catalogs | a cluster as a catalog of the session |
"""
