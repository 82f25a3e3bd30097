"""From a split to Arrow batches.

read           a split → Arrow batches
log_rows       its stretch of the log
lake_rows      files → rows, with the changelog's tail laid over them
tail           … the last change of each key
key_set        which rows have one of the keys that have changed
row_filter     rows that the filters of a request drop, left out
key_ranges     whether rows from one key to another can have changed
view_rows      changes → rows of a view, in Arrow
query_metrics  what was read from which tier, and how long it took
data_loss      DataLossError: rows that are gone before they were read
"""
