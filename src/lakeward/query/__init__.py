"""What a query engine reads: plans, splits and streams, without the engine.

What is asked
    request            ReadRequest: table, view, columns, filters, limit, options
    options            the options of a read as values
    views              the table's rows, its changelog, its binlog; names and schemas
    filters            filters as values, and as JSON
    pushdown           filters → what the server can judge batches by, and which partitions can match
    offset_bounds      filters on a view's offsets and times → what need not be read

A bounded read:  plan_read → splits (spread over tasks) → read_split
    plan               what is read, in one line for EXPLAIN
    splits             the unit of work: a stretch of a bucket's log, or a bucket's state
    read               a split → Arrow batches
    view_rows          changes → rows of a view, in Arrow

A stream:  initial → latest → plan → read_split …
    stream             TableStream; stateless, everything it knows is in the offsets
    stream_offset      StreamOffset: what was read, bucket by bucket
    admission          how much the next batch may read, shared fairly by the buckets
    table_now          what of a table a stream sees at one moment
    progress           how far behind a stream is
    data_loss          DataLossError: rows that are gone before they were read
"""
