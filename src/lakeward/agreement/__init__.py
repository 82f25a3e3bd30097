"""Whether the log, the state and the lake of a table say the same. By the public protocol, for any cluster.

table_check   one table: all of it read, all of it compared
log_check     … a log table: its log, and the lake up to the offsets it names
key_check     … a primary key table: changelog, state and lake, key by key
lake_side     … the lake's half: a snapshot, its offsets, its files
set_aside     … rows that are not expected in the lake: its dead letters
report        what was compared, and each difference with what to do
offset_sums   rows by offset, as counts and sums of hashes
keyed_hashes  rows by key, as hashes; the last change of each key
row_hashes    Arrow rows → hashes of 64 bits
"""
