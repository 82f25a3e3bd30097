"""How a table of ours looks in Paimon.

format_version   which versions of Paimon's files are read
schema_file      schema-N: columns, keys and options of a table
types            column types → Paimon types, Arrow rows → the rows of a data file
described_schema any Paimon table as if it were ours
shape            what a task must know of a table to write its files
place_directory  where the files of a place lie, and the place of a partition
binary_row       values → Paimon's binary rows: keys, partitions, statistics
"""
