"""Calls of sinks.

write_calls    tasks send rows, the driver commits their parts
rows_to_write  rows in the columns of a table
overwrite      INSERT OVERWRITE
row_level      DELETE, UPDATE, MERGE and TRUNCATE: what they need beside plain writes
"""
