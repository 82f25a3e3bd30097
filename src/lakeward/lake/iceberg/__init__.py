"""Apache Iceberg, by pyiceberg. Nothing outside of this folder imports that.

format          IcebergFormat: the door
catalog         our table → an Iceberg table: schema, partition spec, sort order, properties; new columns
bucket_catalog  the catalog of a warehouse in S3, or of folders: versions that only one writer can make
java_catalogs   catalogs as Apache Fluss and Java's Iceberg name them, in the words of pyiceberg
pyiceberg_names the private names of pyiceberg that we rely on; another pyiceberg is refused by them
table           IcebergTable: snapshots read, rounds committed
commit/         the snapshot of a round, compaction, expiry
write/          rows → Parquet files, changes by key → data files and position deletes
read/           the files of a snapshot, the rows of a file; without pyiceberg, which takes its time
schema/         column types, partitions, places
others/         tables that no cluster tiers into, by a catalog that we keep for their owners
now/            a snapshot of what is hot, on top of a committed one
"""
