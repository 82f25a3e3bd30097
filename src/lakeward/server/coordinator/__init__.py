"""The coordinator: what exists, and what may be done to it.

    coordinator        Coordinator: the parts below put together; timers
    service            handlers(coordinator): one function per control API
    handlers/          those functions, one file per family
    catalog            databases, tables, schemas, partitions in memory, written through to the metadata store
    stored             … those nouns ↔ the records of the store
    events             what listeners are told
    database_admin     create, alter, drop databases
    table_admin        create, alter, drop tables
    table_defaults     … what is filled in where a table says nothing
    table_rules        … what a table must be (with merge_rules, aggregate_rules, partition_rules)
    table_changes      … what a change makes of it
    partition_admin    create, drop, list partitions
    auto_partition     the calendar, pure; time_format: the time in a partition's name
    auto_partitioner   … applied to the catalog
    cluster_config     options in force, changed while running
    lake/              tiering: whose turn it is, and how far the lake is
    database, partition, alteration, row_numbers, handler    nouns and steps the above share
    writer_ids         ids for idempotent writers
    producer_offsets   where a producer's writes began
    server_tags        what an operator says of servers
    kv_snapshots       which snapshots of state are in remote storage; snapshot_leases: who still reads which

Requests come in through service, are judged by the *_admin modules, and end in the catalog, which is the only writer
of the metadata store.
"""
