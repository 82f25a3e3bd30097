"""What an application holds in its hands.

The blocking door
    sync, sync_table, sync_writers, sync_scan
                       Connection, Table, Writer, Scan: facades over the asyncio core
    loop_thread        the background event loop the facades run on, or that of an asyncio caller

The cluster
    connection         AsyncConnection: opens, hands out tables, closes everything it opened; QueryEngine, its SQL
    admin              databases, tables, cluster options
    lake               snapshots of the lake; what a tiering service reports
    cluster            what everything on one connection shares: settings, channels, metadata, worker threads
    patience           a request to a leader, repeated while it moves
    absence            all servers are away: said once, and waited for
    metadata_cache     who leads which bucket; refreshed when a server says it is not the leader
    settings, results  options as values; the small values that calls answer with

A table
    table              AsyncTable: the factory of writers and scans
    partitions         listed, created, dropped, made to exist before a write
    offsets            where each bucket's log begins and ends, and what offset a time stands for
    groups             how far consumer groups got, kept in a table of the cluster
    schema_forms       schemas as people write them
    data_forms         rows as people hold them → Arrow
    new_columns        columns that a table gets while somebody works on it: followed, or told

Rows in:  write → routing → batching → encode (threads) → lane → sender → servers
    writer             AsyncWriter: rows in, acknowledgements out
    routing, batching  which partition and bucket a row belongs to; small writes → batches
    pipeline, delivery what writers of both kinds share; what a batch travels in
    lane               one bucket's batches: order, sequences, what an answer means. Decides, sends nothing
    sender             lanes → leaders; finds them again, repeats, gives up
    writer_ids         writer ids, lent to writers and taken back
    staged             the same in two steps, for engines: tasks encode, the driver appends, each batch id once

Rows out:  scan → log_fetcher → batch_cutter → decode_queue (threads) → reader
    scan               AsyncScan: what to read, from where to where
    log_fetcher        the fetch loop: several answers under way, bounded memory
    filter_message     a filter, as a fetch carries it to the server
    cursor             how far one bucket has been read
    cursor_mender      finds the leaders of buckets that have none
    batch_cutter       answers → pieces of whole batches
    decode_queue       pieces on their way through the decoder, in order
    log_decoder        log batches → Arrow, whatever schema they were written under
    remote             log segments that moved to a file store: a package of its own
    damage             what a scan cannot read: an error that names it, or left out by intent and noted
    damage_probe       where a log can be read again behind a range that its server refuses
    limit_scan         a few rows, the quick way
    log_peek           a look at what comes next in a bucket's log
"""
