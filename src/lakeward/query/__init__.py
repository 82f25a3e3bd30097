"""What a query engine reads: plans, splits and streams, without the engine.

What is asked
    request            ReadRequest: table, view, columns, filters, limit, options
    options            the options of a read as values
    views              the table's rows, its changelog, its binlog; names and schemas
    filters            filters as values, and as JSON
    pushdown           filters → what the server can judge batches by, and which partitions can match
    offset_bounds      filters on a view's offsets and times → what need not be read

A bounded read:  plan_read → splits (spread over tasks) → read_split
    planner            plan_read: one snapshot of the lake, one set of end offsets
    plan               what is read, in one line for EXPLAIN
    replan             again, while the table moves on under a plan
    gc_pause           no garbage collection meanwhile
    log_bytes          what to expect of the log, for those who explain a plan
    splits             the unit of work: a stretch of a bucket's log, a bucket's state, files of the lake, or both
    read               a split → Arrow batches
    log_rows           its stretch of the log
    query_metrics      what was read from which tier, and how long it took

The lake's half
    cold               the lake opened; which snapshot, which of its files
    lake_cache         what plans remember of it
    file_pruning       filters and the bounds of a file → whether it can match
    by_time            a log table as of a time that only the lake's rows remember; pure
    union              which tier each part of a table is read from; pure
    lake_rows, merge   files → rows, with the changelog's tail laid over them
    key_ranges         whether rows from one key to another can have changed

Without an engine of one's own
    door               connect: the client's connections, with SQL
    sql, sql_tree      a SELECT over tables, by DuckDB; what it wants of them
    keyword_hint       what to say when a column has the name of a word of SQL
    duck_session       DuckDB for one query
    read_ahead         what is hot, on its way before it is asked for
    duckdb_views       a plan as a view of DuckDB (duck_types: its columns in types that DuckDB has)

Changes
    view_rows          changes → rows of a view, in Arrow

A stream:  initial → latest → plan → read_split …
    stream             TableStream; stateless, everything it knows is in the offsets
    stream_offset      StreamOffset: what was read, bucket by bucket
    stream_batch       what lies between two offsets; pure
    stream_lake        the lake's half: where a stream of everything begins, and what it reads there
    admission          how much the next batch may read, shared fairly by the buckets
    table_now          what of a table a stream sees at one moment
    progress           how far behind a stream is
    data_loss          DataLossError: rows that are gone before they were read
"""
