"""Batches: what a log stores, a put carries and a scan answers.

layout           Field, Layout: a header is a table, its offsets are computed
batch_header     BATCH_V0, V1, V2
crc32c           the checksum
log_batch        batches in a buffer: cut, check, stamp, walk
projection       columns asked for, columns sent: surgery, never decoding
column_sums      heads and checksums by which some columns of a stored batch are read
statistics       min, max, nulls of a batch
predicate        may a batch be skipped?
kv_batch         what a put carries; loads numba, as do the next three
value_batch      what a scan of values answers
changelog_batch  changes as the log stores them, and read back for replay
reference        docs/formats, printed from the layouts
"""
