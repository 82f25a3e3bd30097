"""Rows in, by key:  upsert, delete → written_columns → changes (threads) → change_batching → lane → sender → servers

upserter         AsyncUpserter: changes in, acknowledgements out
written_columns  all columns, or those of a partial update
changes          rows and keys → records, spread over partitions and buckets
change_batching  small writes → batches
"""
