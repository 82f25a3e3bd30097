"""What is read of tables.

chunking        a table cut into ranges of its key
chunk_reader    rows of a range as they were at a position
table_changes   what happened to a table around a snapshot
change_reader   messages → events
relation_rows   rows of one relation out of a bulk
schema_changes  what the stream says of a table against what was known
queries         SQL over ranges and keys; COPY
"""
