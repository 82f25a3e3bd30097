"""What a capture reads.

chunk_plan      ranges of keys
chunk_reader    ChunkReader: rows of a range as they were at a place
literals        keys as SQL
undo            changes undone
changes         ChangeReader: events → rows and schema changes
row_batches     row events of a table → Arrow
limits          where a part with so many changes ends
"""
