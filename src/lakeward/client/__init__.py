"""What an application holds in its hands.

sync, sync_table   Connection, Table, Writer, Scan: blocking facades over the asyncio core
loop_thread        the background event loop the facades run on
connection         AsyncConnection: metadata, channels, admin calls; closes everything it opened
admin              databases, tables, partitions, cluster options
metadata_cache     who leads which bucket; refreshed when a server says it is not the leader
table              AsyncTable: the factory of writers and scans
writer             AsyncWriter: rows in, acknowledgements out
routing            which partition and bucket a row belongs to
batching           small writes → batches per bucket
lane, sender       one ordered, idempotent stream of batches per bucket → servers; retries
writer_ids         writer ids lent to writers and taken back
scan               AsyncScan: what to read, from where to where
log_fetcher        the fetch loop beneath a scan; several answers in flight, decode on threads
log_decoder        log batches → Arrow, whatever schema they were written under
remote_fetch       log segments that moved to a file store
limit_scan         a few rows, the quick way
schema_forms       schemas as people write them
data_forms         rows as people hold them → Arrow
settings           options of a connection
results            the small values that calls answer with
"""
