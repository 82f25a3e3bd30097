"""Snapshots read. None of this imports pyiceberg, which takes its time.

reader            IcebergReader: the files of a snapshot, the rows of a file
column_bounds     … what their columns hold
table_document    a table's metadata file
manifest_entries  the files that a manifest names
avro_file         as much of Avro as that takes
manifest_cache    manifests that were read before
equality_deletes  rows that other services have deleted by their values
row_positions     where the rows of given keys are
lake_files        local files, and the catalog that is one of them
snapshot_forms    a snapshot → what the port says of it
"""
