"""One function per control API, one file per family.

service      handlers(coordinator): API → function
handler      what a handler is
caller       who asks, and by which address
balance      REBALANCE and server tags
cluster      cluster options
database     databases
kv_snapshot  snapshots of state
lake         tiering and snapshots of the lake
metadata     who leads what
partition    partitions
producer     offsets of producers, ids of writers
remote_log   manifests of remote logs
table        tables and their schemas
"""
