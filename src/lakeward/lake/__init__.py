"""Tables in an open lake: what tiering writes and any engine reads.

port               what every format offers: catalog, table, writer, snapshot
formats            formats by name; third parties plug in by entry point `lakeward.lake_formats`
offsets_document   how far each bucket's log is in the lake, as Apache Fluss writes it
round_properties   what a snapshot's own properties say of the round that made it
system_columns     __bucket, __offset, __timestamp
iceberg            the only folder that imports pyiceberg
paimon             Paimon's files, written by ourselves
"""
