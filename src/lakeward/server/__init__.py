"""The process that owns state: one port, both roles.

    node             start, serve, stop: puts the parts together
    restore/         an empty machine becomes the server again
    report/          what /health, /metrics and /remote answer
    remote/          copies logs, state and metadata to remote storage
    coordinator/     decides: databases, tables, partitions, options
    tablet/          serves: logs, and state by key
    archive/         what is remote of each bucket, and questions whose answer is there
    books/           what is kept in the metadata store besides the catalog
    catalog/         databases, tables, schemas, partitions in memory, written through
    chores/          what happens by the clock, and reasons why nothing may be written
    metadata_store/  the cluster's durable memory

A room imports only rooms below it; the two roles do not know each other.
"""
