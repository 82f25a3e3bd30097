"""Tables as they are now: `db.table$now`, an Iceberg snapshot that is made when somebody asks, and never committed.

now_tables   NowTables: one for each table that somebody reads; what nobody can read any more is removed
now_table    NowTable: plan → hot files → snapshot; what was written before is used again
bucket_tail  the hot part of one bucket, in pieces
piece        … one of them: a stretch of the log as files
hot_rows     a stretch of the log, or a state, as rows of the lake
"""
