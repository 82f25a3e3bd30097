"""PUT_KV, LOOKUP, PREFIX_LOOKUP, SCAN_KV, and LIMIT_SCAN and GET_TABLE_STATS of state.

A request goes down this list: lazy_kv, kv_gate, then one of the rest, `state.states`, `storage.kv.kv_tablet`.

lazy_kv         kv_service, made when a primary key table is first touched
kv_warm_up      … which compiles what it needs
kv_service      the parts below put together
kv_gate         stands in front of those below: lets a request in when the states of its buckets are open and free
puts            PUT_KV
put_steps       … one of them, the long parts of which may run on a thread
lookups         LOOKUP, PREFIX_LOOKUP
packed_lookup   … many keys at once
lookup_kernels  … compiled
first_rows      LIMIT_SCAN of state
row_counts      GET_TABLE_STATS of state
kv_scanners     SCAN_KV: cursors over state
"""
