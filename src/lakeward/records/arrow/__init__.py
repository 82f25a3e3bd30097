"""The client's side: rows in Arrow ↔ batches. The server never imports this.

arrow_types        column types ↔ Arrow types
arrow_casts        values made to fit
arrow_values       whether values are what their types say
coarser_columns    moments rounded down, for engines without nanoseconds
arrow_rows         Arrow ↔ single rows
row_batches        rows of a log that is not in Arrow format
arrow_row_kernels  Arrow ↔ many rows, compiled
arrow_statistics   min, max, nulls of Arrow columns
bucket_kernels     the bucket of many rows
partition_values   the partition of many rows
cell_text          a value as text, for people, CSV and JSON
log_batch_builder  rows → a batch for the log
"""
