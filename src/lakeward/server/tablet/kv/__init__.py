"""PUT_KV, LOOKUP, PREFIX_LOOKUP, SCAN_KV, and LIMIT_SCAN of state.

lazy_kv         kv_service, made when a primary key table is first touched
kv_warm_up      … which compiles what it needs
kv_service      the parts below put together
kv_gate         lets requests in when the state of their buckets is open and free
puts            PUT_KV
lookups         LOOKUP, PREFIX_LOOKUP
packed_lookup   … many keys at once
lookup_kernels  … compiled
first_rows      LIMIT_SCAN of state
kv_scanners     SCAN_KV: cursors over state
"""
