"""Files → snapshots.

round_snapshot           the snapshot of a round; the newest one is tagged and always found
file_changes             … and of anything else that adds and removes files: the producer that pyiceberg lacks
remembering_transaction  a commit whose time does not grow with the snapshots before it
live_files               the files of a snapshot, place by place
tidiness                 which places of a primary key table a round rewrites
compaction               small files → fewer, deletes applied: in the background, or all of them by hand
expiry                   old snapshots go with their files; files that nobody knows are found
"""
