"""Tables with a primary key: rows found and replaced by key.

    keyed_rows         what such a table can do; AsyncTable hands on to it
    key_forms          keys as people hold them → Arrow
    table_keys         key columns → bytes, and the bucket they belong to
    conventions        Java's way of bucketing and pyfluss' way, and what a table says of it
    bucket_evidence    whether the rows of a table that says nothing agree with us
    packed             stretches of bytes in one buffer: keys, rows

Rows in:  upsert, delete → written_columns → changes (threads) → change_batching → lane → sender → servers
    upserter           AsyncUpserter: changes in, acknowledgements out
    written_columns    all columns, or those of a partial update
    changes            rows and keys → records, spread over partitions and buckets
    change_batching    small writes → batches

Rows out:  lookup → lookups → bucket_calls → servers → value_decoder → reader
    lookups            many keys, or prefixes of keys, in one call
    few_keys           one key or a few, the short way
    lookup_kernels     keys into requests, values out of answers
    bucket_calls       requests to many leaders, repeated where one has moved
    value_decoder      stored values → Arrow, whatever schema they were written under
    value_scans        values of a bucket without asking for keys
    state, fold        the rows as they are now; a changelog folded by key
    rollback           changes taken back: the rows as they were at an offset
    missing_keys       the error of a key that must be there and is not
"""
