"""One row per option; reference pages are printed from the rows.

kinds            text ↔ value: sizes, durations, switches, choices, lists, maps
option           Option, OptionTable, Alias, and the error for an unknown key
endpoint         Endpoint: NAME://host:port
table            rows a table may carry
tiering          rows for the tiering of one table that Apache Fluss has no name for
apache/          options of Apache Fluss that have no effect here
server           rows for the server
server_options   ServerOptions: what a server was started with
remote_store     rows for S3 and what clients are given of it
secrets          which settings may be told, and URLs without passwords
metrics          rows for metrics: what is shown, and where it is sent
authentication   rows for who may come in: listeners, logins, certificates
authorization    rows for grants, the record of what was done, and quotas; what nothing obeys is refused
client           rows for connections, writers, scanners
spark            rows for the Spark connector; what of them may be printed
reference        prints docs/reference/options.md and spark.md
"""
