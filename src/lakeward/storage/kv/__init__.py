"""The key/value state of one bucket of a primary key table.

    kv_tablet       KvTablet: one bucket's state and its changelog
    kv_table        what its table says
    changes         a put, row by row or compiled: old values, new ones, what is logged
    put_kernels     … the compiled loops
    merging         a put whose rows meet those that are there
    missing_rows    rows that a lookup inserts
    key_checks      keys of a put against its rows and its bucket
    auto_increment  numbers of a bucket, in segments
    log_compaction  older changes of a key leave the changelog
    recovery        state coming back: snapshot, then the log since
    replay          … the log since
    engines         engine name → store; a snapshot of one engine restored into another

    merge/          what becomes of a row when a new one, or a delete, arrives
    merge_loop/     … of all rows of a batch, compiled
    roaring/        bitmaps united
    hash/           the default engine: compiled index over a value log in memory
    rocksdb/        the engine for state larger than memory
    store/          the port of both, and snapshots

A store keeps nothing by itself. The changelog is the write-ahead log: apply to the store, append to the log, `undo`
when the log cannot take it, `maintain` when it has. State after a crash = newest good snapshot + the log from there.
"""
