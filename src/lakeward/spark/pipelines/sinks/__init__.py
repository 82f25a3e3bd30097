"""Where tables go, behind one port.

| module | what it holds |
|---|---|
| port | Sink and SinkWriter: what every sink can do |
| open_sink | by the type that a file says |
| fluss_sink | tables of a Fluss cluster |
| fluss_tables | … made, checked, given columns |
| iceberg_sink | tables of an Iceberg catalog, a snapshot for each micro-batch |
| kafka_sink | topics, a transaction for each micro-batch |
| staged_rows | rows that tasks keep for the driver |
| print_sink | a line for each change |
"""
