"""One file of a log.

segment       batches and two indexes: append, read, find
log_index     offset → position, time → offset: sparse, rebuilt when damaged
batch_check   are these the batches that were written? The one place that decides
segment_walk  a file read from end to end: what is good, what is not; for any thread
index_check   do its index files point to its batches?
damage        offsets that cannot be read, why, and what to do
"""
