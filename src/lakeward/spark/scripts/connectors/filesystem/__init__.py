"""The connector `filesystem`: files in a directory.

| module | what it holds |
|---|---|
| filesystem_connector | the connector |
| filesystem_options | its rows |
| file_formats | what formats are called, and how Spark is told of their options |
| file_source | rows of the files there are, and of those that come |
| file_sink | rows into files; of a stream, each micro-batch once |
| directory | the directory: what is in it, and whether it can be reached at all |
"""
