"""The key/value state of one bucket of a primary key table.

    store          the port: KvStore, KvView, Applied
    kv_tablet      KvTablet: one bucket's state and its changelog; kv_table: what its table says
    changes        a put, row by row or compiled (put_kernels): old values, new ones, what is logged
    merging, missing_rows    rows that decide one by one; rows that a lookup inserts
    log_compaction older changes of a key leave the changelog
    slices         batches of keys and values: many byte strings in one buffer
    recovery       state coming back: snapshot, then the log since (replay)
    snapshots      the state on disk with its log offset; the newest good one; the same for all engines
    held_snapshot  a snapshot that stays while it is copied elsewhere
    engines        engine name → store; a snapshot of one engine restored into another

    hash_store     the default engine: compiled index over a value log in memory
    value_log        chunks of entries that never move
    hash_view        its state at one moment: read in key order, written to a file, read back
    key_order        entries sorted by key, on demand
    ordered_keys     sorted keys kept up to date, for prefix lookups
    *_kernels        compiled loops: entries, index, order (these load numba, 110 MB)
    raw_memory       what numba lacks: loads, stores and copies by address

    rocksdb_store  the engine for state larger than memory
    rocksdb_view     its state at one moment

    row_merger     the port: what becomes of a row when a new one, or a delete, arrives; Fate, RowMerger, Deletes
    merge_engines    which merger a request gets; first_row, versioned, aggregation
    partial_update   some columns of a row; numbers for new rows
    target_columns   which columns a request may name
    aggregate_functions, roaring, roaring64, roaring_containers    cells merged; bitmaps united
    value_rows, null_rules    stored values as plain cells; where NULL is refused
    key_checks     keys of a put against its rows and its bucket
    changelog      +I -U +U -D: what a change looks like in the log
    auto_increment   numbers of a bucket, in segments

A store keeps nothing by itself. The changelog is the write-ahead log: apply to the store, append to the log, `undo`
when the log cannot take it, `maintain` when it has. State after a crash = newest good snapshot + the log from there.
"""
