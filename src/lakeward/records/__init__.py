"""Batches and rows, without files or sockets.

A log and its batches:

    layout, batch_header   Field, Layout; BATCH_V0, V1, V2
    log_batch              batches in a buffer: cut, check, stamp, walk
    arrow_message          where rows, nodes and buffers stand in an Arrow message
    arrow_structure        every length and place in a message against its schema, checked before it is appended
    arrow_contents         every value too; loads numpy
    null_columns           columns that a batch does not have yet, as NULLs
    projection             columns asked for, columns sent: surgery, never decoding
    crc32c, varint         checksum; variable-length integers

One row, one key, one value at a time; these say what the bytes mean:

    row_codec, slots                                         what the row formats share
    compacted_row, indexed_row, aligned_row, binary_array    rows as bytes
    key_encoding, key_decoding, bucketing                    keys as bytes and back, key → bucket
    statistics, predicate                                    min, max, nulls of a batch; may a batch be skipped?

Whole batches at a time, for primary key tables. These load numba, and a server without such tables never does:

    spans                  bytes where they lie, in one buffer or several
    kv_batch, value_batch  what a put carries, what a scan answers
    changelog_batch        changes as the log stores them, and read back for replay
    row_kernels            many rows ↔ columns;  key_rows, key_columns, key_kernels: columns → keys
    columns                columns as Arrow lays them out;  buffer_codecs: their compression
    key_check_kernels      keys of a put against its rows and its bucket
    row_programs           what compiled loops are told of each column
    flat_rows, nested_columns              the two halves of row_kernels: scalars; ARRAY, MAP and ROW
    row_decode_kernels, row_encode_kernels, record_kernels, varint_kernels, memory_kernels, compiled
                                           the loops themselves;  warm_up: compiled before a request waits

The client's side; these import Arrow, and the server never imports them:

    arrow_casts, arrow_statistics          values made to fit; min, max, nulls of Arrow columns
    arrow_values                           whether values are what their types say
    coarser_columns                        moments rounded down, for engines without nanoseconds
    arrow_types, arrow_rows, arrow_row_kernels, bucket_kernels, row_batches, log_batch_builder, partition_values
"""
