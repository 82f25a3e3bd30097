"""One function per control API: the decoded request and its caller in, the response out, LakewardError for a refusal.

database    create, alter, drop, list, describe databases
table       create, alter, drop, list, describe tables; schemas
partition   create, drop, list partitions
metadata    servers, leaders, writer ids, cluster health
cluster     cluster options, grants, authentication
balance     server tags and rebalance, on a cluster of one
remote_log  manifests of the remote log
lake        tiering: heartbeats, lake snapshots
kv_snapshot   snapshots of key/value state, leases on them
producer    producer offsets
"""
