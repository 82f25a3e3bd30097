"""Batches and rows, without files or sockets.

layout, batch_header   Field, Layout; BATCH_V0, V1, V2
log_batch              batches in a buffer: cut, check, stamp, walk
arrow_message          where rows, nodes and buffers stand in an Arrow message
projection             columns asked for, columns sent: surgery, never decoding
crc32c, varint         checksum; variable-length integers

compacted_row, indexed_row, aligned_row, binary_array    rows as bytes
key_encoding, bucketing                                  keys as bytes, key → bucket
statistics, predicate                                    min, max, nulls of a batch; may a batch be skipped?

arrow_types, bucket_kernels, row_batches, log_batch_builder, partition_values
                       the client's side of it: these import Arrow, and the server never imports them
"""
