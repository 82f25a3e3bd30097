"""Keys of a primary key table.

key_forms    keys as people hold them → Arrow
table_keys   key columns → bytes, and the bucket they belong to
conventions  Java's way of bucketing and pyfluss' way, and what a table says of it
packed_bytes  stretches of bytes in one buffer: keys, rows
"""
