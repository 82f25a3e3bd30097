"""A tablet server as a member of a cluster, whoever coordinates it.

orders          UPDATE_METADATA, NOTIFY_LEADER_AND_ISR, STOP_REPLICA: what a coordinator says is so
replicas        what is done with buckets that a coordinator hands out
sole_replicas   … where each bucket has one replica
known_servers   who is there and who leads what, as the coordinator has told it
table_forms     tables and partitions as they come in messages → as the catalog has them
lake_offsets    NOTIFY_LAKE_TABLE_OFFSET: how far the lake has what is here
told_offsets    NOTIFY_REMOTE_LOG_OFFSETS, NOTIFY_KV_SNAPSHOT_OFFSET: what of a followed log may go
remote_books    what is in remote storage, committed to the coordinator
committed       … and what counts of it, asked of the coordinator
shared_settings options and grants that the coordinator keeps
coordinator     whom to ask what is not known here
questions       what clients ask here and the coordinator answers

Nothing here knows which coordinator it is, or how its messages came.
"""
