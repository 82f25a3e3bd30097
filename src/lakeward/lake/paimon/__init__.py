"""Apache Paimon, written by ourselves: Parquet files by pyarrow, Avro manifests, snapshots in JSON (decision 0016).

format             PaimonFormat: the door
catalog            our table → a Paimon table in a directory of the warehouse; new columns
schema_file        schema-N: columns, keys and options of a table
types              column types → Paimon types, Arrow rows → the rows of a data file
shape              what a task must know of a table to write its files
place_directory    where the files of a place lie, and the place of a partition
binary_row         values → Paimon's binary rows: keys, partitions, statistics
parquet_files      rows → Parquet files, rolled by size, each with its entry for a manifest
append_writer      rows of a log table → data files
key_writer         changes of a primary key table → sorted files and their changelog
key_order          rows by key: sorted, the last of each key
compaction         which sorted files of a place are merged into one, and how
log_compaction     small files of a log table → fewer, larger ones
manifests          lists of files: read, written, merged
manifest_layout    the Avro layout of those lists
snapshots          snapshot-N: read, and created by exactly one writer
expiry             old snapshots and what only they need; files that nobody knows
table              PaimonTable: snapshots read, rounds committed
reader             PaimonReader: the files of a snapshot, the rows of a place (file_bounds: what their columns hold)
merged_reads       … of a primary key table, merged from key to key
commit             one snapshot on top of the newest, tried again on a lost race
writing            what a task is told, and what it tells
value_bounds       least and greatest values of a file's columns
snapshot_forms     a snapshot → what the port says of it
"""
