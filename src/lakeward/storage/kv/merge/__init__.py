"""What becomes of a row when a new one, or a delete, arrives.

row_merger           the port: Fate, RowMerger, Deletes
merge_engines        which merger a request gets; first_row, versioned, aggregation
partial_update       some columns of a row; numbers for new rows
target_columns       which columns a request may name
aggregate_functions  cells merged
value_rows           stored values as plain cells
null_rules           where NULL is refused
changelog            +I -U +U -D: what a change looks like in the log
"""
