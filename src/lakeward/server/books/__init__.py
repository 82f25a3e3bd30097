"""What is kept in the metadata store besides the catalog.

kv_snapshots      which snapshots of state are in remote storage
snapshot_leases   … and who still reads which
lake_snapshots    which snapshots the lake has, by table
offsets_files     … their offsets in files, written so that a crash leaves all of one or none
bucket_offsets    … the document of offsets ↔ JSON
writer_ids        ids for idempotent writers
producer_offsets  where a producer's writes began
row_numbers       the counter behind a table's auto-increment column
row_number_files  … in files, where several processes take numbers
server_tags       what an operator says of servers
"""
