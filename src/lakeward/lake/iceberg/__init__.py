"""Apache Iceberg, by pyiceberg. Nothing outside of this folder imports that.

format             IcebergFormat: the door
catalog            our table → an Iceberg table: schema, partition spec, sort order, properties; new columns
bucket_catalog     the catalog of a warehouse in S3: versions that only one writer can make
types              column types → Iceberg types, Arrow rows → the rows of a data file
layout             how a table is partitioned, and the partition of a place
places             … and the other way round: the place that a partition stands for
data_writer        rows → Parquet files, rolled by size (unnamed_bounds: columns of which a manifest tells no bounds)
merge_writer       changes by key → data files and position deletes (row_positions finds the old rows)
table              IcebergTable: snapshots read, rounds committed
reader             IcebergReader: the files of a snapshot, the rows of a file (column_bounds: what their columns hold).
                   Neither it nor what it is made of imports pyiceberg, which takes its time:
table_document       a table's metadata file
manifest_entries     the files that a manifest names (avro_file: as much of Avro as that takes)
manifest_cache       manifests that were read before
equality_deletes     rows that other services have deleted by their values
lake_files           local files, and the catalog that is one of them
snapshot_forms     a snapshot → what the port says of it
remembering_transaction   a commit whose time does not grow with the snapshots before it
round_snapshot     the snapshot of a round; the newest one is tagged and always found
file_changes       … and of anything else that adds and removes files: the producer that pyiceberg lacks
live_files         the files of a snapshot, place by place
tidiness           which places of a primary key table a round writes anew
compaction         small files of a log table → fewer, in the background
expiry             old snapshots go with their files; files that nobody knows are found
"""
