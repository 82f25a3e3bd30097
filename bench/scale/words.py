"""What the page says beside its figures."""

from __future__ import annotations

from typing import NamedTuple


class Words(NamedTuple):
    """A work in words: in the table, above the panel of small requests, above the panel of all rows."""

    name: str
    small: str
    whole: str


WORDS = {
    "append": Words("append", "one row appended", "append, all rows"),
    "scan": Words("scan", "first ten rows", "scan, all rows"),
    "upsert": Words("upsert", "one row upserted", "upsert, all keys"),
    "lookup": Words("lookup", "one lookup", "lookup, 100,000 keys"),
    "tiering": Words("tiering round", "round of 50,000 rows", "first round, all rows"),
    "union": Words("union query", "count and sum", "count and sum"),
    "start": Words("start-up, ready", "start", "start-up, ready"),
    "restore": Words("restore", "restore", "restore"),
}
NOTES = {
    "rows": (
        "A log table of ten columns, 92 bytes a row, 2 buckets, and a table by key with as many keys, up to 10 M; "
        "10⁷ rows are about 1 GB, 10⁸ about 10 GB, 10⁹ (`--gb 100`) about 100 GB."
    ),
    "buckets": "1,000,000 rows and 200,000 keys, spread over all buckets by id: at 10,000 buckets each has 100 rows.",
    "partitions": "1,000,000 rows and 200,000 keys, spread over all partitions, 2 buckets in each.",
    "rounds": "1,000,000 rows in a first round, then so many rounds of 1,000 rows, nothing compacted or expired.",
    "connections": (
        "Each connection has a log table and a table by key; requests come from one connection after the other (p50 "
        "…), then from all at once. The client is one process, and has most of the work when all ask at once."
    ),
}
REASONS = [
    (
        "**Mended:** a tiering round compared the results of its buckets pairwise (quadratic), and read the table's "
        "metadata, its Arrow schema and its plan of statistics again for each of them."
    ),
    "**Mended:** a commit to the lake copied every snapshot that is not expired, twice; now it shares them.",
    (
        "A tiering round still reads the lake's metadata a few times, and that lists every snapshot: a fraction of a "
        "millisecond for each. `table.datalake.auto-expire-snapshot` bounds it."
    ),
    (
        "**Mended:** each bucket was looked up, scanned and told of by itself. Those with few new rows are read "
        "together now, and what a manifest says of a file is worked out from a plan made once: 50,000 rows over 1,000 "
        "buckets take 1.7 s of CPU of the tiering service instead of 3.2, and 0.05 of the server instead of 0.28 (over "
        "1,000 partitions of 2 buckets 4.2 instead of 6.3, and 0.7 instead of 1.2). A round took 10.6 s over 1,000 "
        "buckets and 13.1 over 1,000 partitions before, and over 10,000 buckets it did not end in 220 s."
    ),
    (
        "A round still writes one Parquet file for each bucket that has new rows, whatever is in it: about 1.5 ms of "
        "CPU, a third of them in Parquet's writer and the file system. Fewer buckets, or a longer freshness, is the "
        "remedy."
    ),
    (
        "Appends and scans of many buckets carry small batches: 50,000 rows over 1,000 buckets are batches of 50 rows, "
        "and a batch costs about 0.2 ms of client and server together, whatever is in it. Cost is linear in batches."
    ),
    "The first touch of a bucket makes its directory, segment and facts: about a millisecond, once.",
    (
        "**Not mended:** the server's CPU for a scan grows by far more than its axis between 1,000 and 10,000 buckets "
        "(fifty to seventy times a GB). Its profile at 4,000 buckets shows no single cause; files that are closed and "
        "opened again, since their number is bounded, are a guess that nobody has tested."
    ),
    (
        "**Mended in part, and not measured again here:** a union query over thousands of small files took four to "
        "six times what DuckDB alone does. Of a log table of 300 buckets the client's CPU, third query on, was 40 ms "
        "against DuckDB's 19: a look into the columns of each file, and questions and decisions for each bucket. Less "
        "is asked and decided: 31 ms. The look (`union_by_name`) is 5 ms more, and stays: without it queries of TPC-H "
        "at factor 1 took 1.3 times the CPU."
    ),
    (
        "**Not measured:** 10,000 buckets beyond lookups and rounds, 1,000 rounds (300 instead), 100 GB, 10 M upserts "
        "on Apache Fluss (did not end in time), and Iceberg written by Spark alone."
    ),
]
