"""Apache Paimon, written by ourselves: Parquet files by pyarrow, Avro manifests, snapshots in JSON (decision 0016).

format          PaimonFormat: the door
catalog         our table → a Paimon table in a directory of the warehouse; new columns
table           PaimonTable: snapshots read, rounds committed
read/           the files of a snapshot, the rows of a place
write/          rows → Parquet files, each with its entry for a manifest
manifest/       lists of files, snapshots, commits, expiry
schema/         schema-N, types, binary rows, directories
"""
