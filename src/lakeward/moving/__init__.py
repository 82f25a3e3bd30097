"""Moving house: tables copied from one cluster to another, by the public protocol of both.

copier       the tables that were asked for, one after the other: copied, followed, compared
names        which tables are meant: names, patterns, all
table_copy   one table in rounds: what the source has and the target lacks
twin         the table in the target: made like the source's, or found to be the same
state_sync   a primary key table whose changelog no longer begins at 0: its rows, then what changes
comparison   counts and checksums of both, bucket by bucket
lake_move    a table's lake, handed over instead of copied
report       what was done, and what is to be known of it

How far a copy came is read from the target itself, so one that was killed goes on where it stopped, and nothing is kept
anywhere else.
"""
