"""The rows of all metrics. A metric that has no row cannot be declared.

metric_row  one row: name, kind, unit, labels, meaning, what to do
every_row   all of them, by part
requests    requests, their errors and times, connections
tables      each table: rows and bytes in and out, logs, states
storage     logs, states, damage, the disk
lake        tiering, as the server sees it
remote      copies in remote storage
security    logins, principals, grants
process     memory, CPU, files, the event loop
reporting   what was sent elsewhere
jobs        streaming statements of scripts
services    the tiering service, pipelines, queries
"""
