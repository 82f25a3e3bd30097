"""One of several replicas: this server leads some buckets and follows others, as a coordinator says.

seat              what such a server is given: the other servers, the coordinator, numbers that all share
entry             whether they let each other in, found out before it joins
cluster_replicas  the parts below, put together: orders are obeyed, what follows from them is seen to
held_replicas     which buckets there are; what clients may see of them, when a write is answered
replica           … one of them
isr_reports       ADJUST_ISR: who is in sync, asked of the coordinator
follower_fetches  FETCH_LOG: one conversation with each leader
log_copy          … and what it brings becomes part of a log
cluster_commits   what counts of remote storage, as ZooKeeper names it
marks             high watermarks, noted for the next life
peers             whom to ask
standing          what this server is to a bucket; older orders are refused. Pure
in_sync           a leader's book of its followers: the high watermark, who is in sync. Pure
following         how a follower comes to have its leader's log, byte for byte. Pure

An order comes by `member.orders`. A leader's rows wait in `replica` until all have them; a follower compares what is
behind the high watermark with its leader before it appends.
"""
