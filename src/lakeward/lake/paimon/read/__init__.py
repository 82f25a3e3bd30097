"""Snapshots read.

reader        PaimonReader: the files of a snapshot, the rows of a place
file_bounds   … what their columns hold
overlaps      … which of them have to be merged by key
merged_reads  … of a primary key table, merged from key to key
key_order     rows by key: sorted, the last of each key
"""
