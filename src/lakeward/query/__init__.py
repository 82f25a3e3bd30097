"""What a query engine reads: plans, splits and streams, without the engine.

    door      connect: the client's connections, with SQL
    duckdb/   a SELECT over tables, by DuckDB
    stream/   a stream: initial → latest → plan → read_split …
    read/     a split → Arrow batches
    plan/     plan_read: one snapshot of the lake, one set of end offsets → splits
    lake/     the lake's half: which snapshot, which of its files
    request/  what is asked: table, view, columns, filters, limit, options

A bounded read goes plan_read → splits (spread over tasks) → read_split. A room imports only rooms below it.
"""
