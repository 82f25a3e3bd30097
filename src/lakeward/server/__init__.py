"""The process that owns state: one port, both roles.

    node             start_node: a running server, put together from the ground up; stop
    node_metrics     what is counted, for GET /metrics
    restore/         an empty machine becomes the server again
    report/          what /health, /metrics and /remote answer
    roles            coordinator, tablet and remote put together: what one needs of another it is given here
    front            clients: they come, ask, are answered and go
    access/          who comes in: logins, users, certificates
    grants/          what somebody may do, what they did, and how much of it
    coordinator/     decides: databases, tables, partitions, options
    tablet/          serves: logs, and state by key
    remote/          copies logs, state and metadata to remote storage
    archive/         what is remote of each bucket, and questions whose answer is there
    buckets/         which buckets are here, and their logs
    books/           what is kept in the metadata store besides the catalog
    catalog/         databases, tables, schemas, partitions in memory, written through
    chores/          what happens by the clock, and reasons why nothing may be written
    ground           data directory, metadata, clock, threads (disk_thread: slow work, in order)
    metadata_store/  the cluster's durable memory
    doors            what a server takes from the world: clock, entropy, threads

A room imports only rooms below it; the roles do not know each other.
"""
