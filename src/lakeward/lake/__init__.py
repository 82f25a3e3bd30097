"""Tables in an open lake: what tiering writes and any engine reads.

The port
    port               what every format offers: catalog, table, writer, snapshot, reader
    formats            formats by name; third parties plug in by the entry point group `lakeward.lake_formats`
    catalog_of         the catalog that a table is in, opened once in a process
    home               where a table's lake is, as the cluster remembers it; who looks elsewhere is told
    trial              a lake tried before the cluster is told of it
    conflict           the error of a round that came too late

What a snapshot tells
    round_properties   what a snapshot's own properties say of the round that made it
    offsets_document   how far each bucket's log is in the lake, as Apache Fluss writes it

Where files are
    s3_path            lake_path: a Path, or a place in a bucket that is used like one
    whole_files        files that appear whole or not at all, on a disk and in a bucket
    blocking_store     remote storage for code that waits
    s3_properties      how a bucket is reached, by everybody's names

Rows on their way
    system_columns     __bucket, __offset, __timestamp
    storable           tables that no data file can hold
    conformed_rows     rows in the columns and types of a data file
    last_changes       many changes → the last one of each key
    parquet_dictionaries   columns that are worth a dictionary
    parquet_rows       and back: the live rows of a file

The formats
    iceberg            the only folder that imports pyiceberg
    paimon             Paimon's files, written by ourselves
"""
