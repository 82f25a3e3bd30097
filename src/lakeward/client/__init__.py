"""What an application holds in its hands.

    blocking/  the blocking door: Connection, Table, Writer, Scan; facades over the asyncio core
    staged/    writes in two steps, for engines: tasks encode, the driver appends, each batch id once
    tables/    the asyncio core: AsyncConnection hands out AsyncTable, the factory of everything below
    lookup/    rows found by key
    raw/       logs copied batch by batch, to the same offsets of another table
    upsert/    rows put and deleted by key
    state/     the rows of a primary key table as they are now
    keys/      key columns → bytes, and the bucket they belong to
    write/     rows in:   write → routing → batching → encode (threads) → lane → sender → servers
    read/      rows out:  scan → log_fetcher → batch_cutter → decode_queue (threads) → reader
    admin/     databases, tables, partitions, offsets, what the lake has
    cluster/   what everything on one connection shares: channels, metadata, patience
    remote/    log segments that moved to a file store
    decode/    log batches → Arrow
    forms/     what people hand in and get back: settings, schemas, rows, results, errors

A room imports only rooms below it.
"""
