"""The process that owns state: one port, both roles; or one role of several processes.

    crew/            a coordinator and its tablet servers as processes of one machine
    node             start_node: a running server, put together from the ground up; stop
    cluster_life     a node as tablet server of an Apache Fluss cluster
    node_metrics     what is counted, for GET /metrics
    restore/         an empty machine becomes the server again
    report/          what /health, /metrics and /remote answer
    roles            coordinator, tablet and remote put together: what one needs of another it is given here
    tablet_roles     … where a coordinator elsewhere decides: tablets, and its orders
    role_parts       … what either is made of, and what a node asks of it
    front            clients: they come, ask, are answered and go
    access/          who comes in: logins, users, certificates
    grants/          what somebody may do, what they did, and how much of it
    coordinator/     decides: databases, tables, partitions, options
    cluster_roles    … with replicas of its buckets on other servers
    zookeeper/       a place in an Apache Fluss cluster
    replica/         one of several copies: leads some buckets, follows others
    tablet/          serves: logs, and state by key
    fleet/           the tablet servers as their coordinator sees them
    member/          a tablet server as a member of a cluster: orders, and whom to ask
    remote/          copies logs, state and metadata to remote storage
    archive/         what is remote of each bucket, and questions whose answer is there
    buckets/         which buckets are here, and their logs
    whereabouts/     which servers there are, who leads what: GET_METADATA
    books/           what is kept in the metadata store besides the catalog
    catalog/         databases, tables, schemas, partitions in memory, written through
    chores/          what happens by the clock, and reasons why nothing may be written
    ground           data directory, metadata, clock, threads (disk_thread: slow work, in order)
    metadata_store/  the cluster's durable memory
    doors            what a server takes from the world: clock, entropy, threads

A room imports only rooms below it; the roles do not know each other.
"""
