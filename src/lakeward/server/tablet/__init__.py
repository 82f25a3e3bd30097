"""Serves: the logs of this server and the requests that touch them.

tablets    which buckets are here; opens their logs when they are first touched
produce    PRODUCE_LOG: check, judge, append, answer; batches that came too early wait
append_checks  what a batch must be before it is appended: rows of its table that every reader can read
fetch      FETCH_LOG: read, select, answer or wait (fetch_answer: encoded in pieces)
selection  which batches and columns of them a fetch gets (filters: the predicate it came with)
waiting    fetches that wait for rows, woken by the append
scans      LIST_OFFSETS, LIMIT_SCAN, GET_TABLE_STATS
puts       PUT_KV
lookups    LOOKUP, PREFIX_LOOKUP (packed_lookup, lookup_kernels: many keys at once, compiled)
first_rows   LIMIT_SCAN of state
kv_scanners  SCAN_KV: cursors over state
kv_gate    lets requests in when the state of their buckets is open and free
too_large  refusals of what asks for too much
busy       buckets whose state is worked on by a thread, and who waits for them (parked: a request that is kept)
early      batches that came before their predecessor
pending    a write request whose buckets are done one after the other
lazy_kv    kv_service, made when a primary key table is first touched; kv_warm_up compiles what it needs
log_opening   what a log is told when it is opened, and what it tells
log_settings  a table's options as its logs take them
write_stop   reasons why nothing may be written now
tried_again  chores that fail for one bucket
service    one handler per API
"""
