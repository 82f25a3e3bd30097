"""The default engine: a compiled index over a value log in memory.

hash_store     the store
hash_view      its state at one moment: read in key order, written to a file, read back
value_log      chunks of entries that never move
key_order      entries sorted by key, on demand
ordered_keys   sorted keys kept up to date, for prefix lookups
entry_kernels  compiled loops over entries (these load numba, 110 MB)
hash_kernels   … over the index
order_kernels  … over sorted keys
raw_memory     what numba lacks: loads, stores and copies by address
"""
