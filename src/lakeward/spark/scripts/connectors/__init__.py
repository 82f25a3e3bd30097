"""Connectors of scripts: where rows come from and go to.

| module | what it holds |
|---|---|
| lookup_handle | a table in which rows are looked up by key |
| port | what a connector is, and what a script gives to it |
| registry | connectors by name; options of a table against their rows |
| fluss | tables of a cluster |
| capture | `mysql-cdc` and `postgres-cdc`: tables of databases |
| elasticsearch | documents of Elasticsearch and OpenSearch |
| datagen | rows that are made up |
| filesystem | files in a directory |
| lake | tables of a lake |
| kafka | topics of Kafka |
| print_rows | `print`: rows as lines |
| no_streams | what an older Spark cannot do |
| row_text | … a row as text |
| blackhole | `blackhole`: rows that go nowhere |
"""
