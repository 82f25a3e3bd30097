"""The rules: rows of what is looked at, from where on it matters, and what to do.

They are rules of thumb. A figure is always shown beside the advice, so that a person can judge; where a figure is not
known, or too little was seen of a table, a rule is silent.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import ceil
from typing import Any

from lakeward.advice.advice import Advice
from lakeward.advice.figures import TableFigures
from lakeward.options import table as options
from lakeward.options.option import Option

_KB, _MB, _GB = 1e3, 1e6, 1e9
_MINUTE_MS, _DAY_MS = 60_000, 86_400_000
_DAY_S = 86_400.0

#: What one bucket takes with ease: half of what one was measured to take.
BUCKET_BYTES_PER_S = 20 * _MB
BUCKET_ROWS_PER_S = 100_000.0
#: A bucket that gets less than this costs more in files and requests than it helps.
SMALL_BUCKET_ROWS_PER_S = 10.0
SMALL_BUCKET_BYTES = 4 * _MB
SKEW_MAX = 2.0
ROWS_TO_JUDGE = 1_000
PARTITIONS_MAX = 500
SMALL_PARTITION_BYTES = 10 * _MB
LARGE_LOG_BYTES = 2 * _GB
LARGE_TABLE_BYTES = 50 * _GB
HOT_DAYS_MAX = 3
SMALL_FILES = 200
SMALL_FILE_BYTES = 8 * _MB
SNAPSHOTS_MAX = 200
ROUND_BYTES_MIN = 1 * _MB
SMALL_BATCH_ROWS = 10.0


@dataclass(frozen=True, slots=True)
class Rule:
    """A row: its name, what it looks at, and the function that judges."""

    name: str
    looks_at: str
    judge: Callable[[TableFigures], Advice | None]


def _alter(f: TableFigures, option: Option[Any], value: str) -> str:
    return f"lakeward tables alter {f.table} --set {option.key}={value}"


def _anew(f: TableFigures, change: str) -> str:
    """What is fixed at creation needs a new table, into which the rows are copied."""
    return f"lakeward tables create {f.table}_new … {change}, then `lakeward dump {f.table} -o json` into it"


# -- buckets ----------------------------------------------------------------------------------------------------------


def _few_buckets(f: TableFigures) -> Advice | None:
    rows = max(f.rows_per_s_now or 0.0, f.rows_per_s or 0.0)
    size = f.bytes_per_s or 0.0
    wanted = max(ceil(rows / BUCKET_ROWS_PER_S), ceil(size / BUCKET_BYTES_PER_S))
    if wanted <= f.bucket_count or f.log_rows < ROWS_TO_JUDGE:
        return None
    return Advice(
        "few buckets",
        f"{rows:,.0f} rows/s and {size / _MB:,.1f} MB/s into {f.bucket_count} buckets",
        f"{wanted} buckets",
        "a bucket is written by one leader in one order: more of them are written, read and tiered side by side",
        _anew(f, f"--buckets {wanted}"),
    )


def _small_buckets(f: TableFigures) -> Advice | None:
    rows, size = max(f.rows_per_s_now or 0.0, f.rows_per_s or 0.0), f.log_bytes
    if f.bucket_count <= 4 or size is None or f.log_rows < ROWS_TO_JUDGE:
        return None
    if rows / f.bucket_count >= SMALL_BUCKET_ROWS_PER_S or size / f.buckets >= SMALL_BUCKET_BYTES:
        return None
    wanted = max(ceil(rows / (10 * SMALL_BUCKET_ROWS_PER_S)), 1)
    return Advice(
        "many small buckets",
        f"{f.bucket_count} buckets with {size / f.buckets / _KB:,.0f} kB and {rows / f.bucket_count:,.2f} rows/s each",
        f"{min(wanted, 4)} bucket{'s' if min(wanted, 4) > 1 else ''}",
        "every bucket has its own files, its own requests, and its own small file in each round of tiering",
        _anew(f, f"--buckets {min(wanted, 4)}"),
    )


def _skew(f: TableFigures) -> Advice | None:
    if f.skew is None or f.bucket_count < 2 or f.skew <= SKEW_MAX or f.log_rows < ROWS_TO_JUDGE or not f.bucket_keys:
        return None
    better = _spreading_column(f)
    values = ", ".join(f"{f.distinct[key]:,} values of {key}" for key in f.bucket_keys if key in f.distinct)
    seen = f"; {values} in {f.sampled_rows:,} rows" if values else ""
    return Advice(
        "skew",
        f"the fullest bucket has {f.skew:.1f} times the rows of an average one{seen}",
        f"bucket by {better}" if better else "bucket by a column with more, and more even, values",
        "the fullest bucket sets the pace of the whole table: it is written, read and tiered last",
        _anew(f, f"--bucket-by {better or 'COLUMN'}"),
    )


def _spreading_column(f: TableFigures) -> str | None:
    """A column with many values in the sample; of a primary key table only those of the key."""
    fit = {name: n for name, n in f.distinct.items() if name not in (*f.bucket_keys, *f.partition_keys)}
    best = max(fit, key=lambda name: fit[name], default=None)
    return best if best is not None and fit[best] > 10 * f.bucket_count else None


# -- partitions -------------------------------------------------------------------------------------------------------


def _many_partitions(f: TableFigures) -> Advice | None:
    size = f.log_bytes
    if not f.partition_keys or f.partition_count <= 24:
        return None
    small = size is not None and size / f.partition_count < SMALL_PARTITION_BYTES
    if f.partition_count <= PARTITIONS_MAX and not small:
        return None
    each = "" if size is None else f" of {size / f.partition_count / _MB:,.1f} MB each"
    return Advice(
        "many partitions",
        f"{f.partition_count:,} partitions{each}",
        "a coarser time unit, or fewer partition keys",
        "each partition has buckets, files and rounds of its own; a query that prunes nothing opens all of them",
        _anew(f, f"-p {options.AUTO_PARTITION_UNIT.key}=DAY (or MONTH)"),
    )


def _partitions_stay(f: TableFigures) -> Advice | None:
    if not f.partition_keys or f.partition_count < 2:
        return None
    if options.AUTO_PARTITION.read(f.properties):
        if options.AUTO_PARTITION_RETENTION.read(f.properties) >= 0:
            return None
        command = _alter(f, options.AUTO_PARTITION_RETENTION, "7")
    elif any(_is_time(f.columns.get(key, ""), key) for key in f.partition_keys):
        command = _alter(f, options.AUTO_PARTITION, "true")
    else:
        return None
    return Advice(
        "partitions that stay",
        f"{f.partition_count:,} partitions by {', '.join(f.partition_keys)}, and none is ever dropped",
        "let partitions come and go with the calendar",
        "a partition that is dropped costs nothing; rows that are deleted one by one do",
        command,
    )


def _no_partitions(f: TableFigures) -> Advice | None:
    size = max(f.log_bytes or 0.0, 0.0) + (f.lake_bytes or 0)
    times = [name for name, kind in f.columns.items() if _is_time(kind, name)]
    if f.partition_keys or size < LARGE_TABLE_BYTES or not times:
        return None
    return Advice(
        "no partitions",
        f"{size / _GB:,.0f} GB hot and cold without partitions, with a time in {times[0]}",
        "a partition for each day",
        "queries over a stretch of time then open the files of those days only, and old days can be dropped whole",
        _anew(f, f"--partition-by dt -p {options.AUTO_PARTITION.key}=true -p {options.AUTO_PARTITION_UNIT.key}=DAY"),
    )


def _is_time(kind: str, name: str) -> bool:
    return kind.upper().startswith(("DATE", "TIMESTAMP")) or name.lower() in {"dt", "day", "date", "hour", "month"}


# -- retention --------------------------------------------------------------------------------------------------------


def _never_expires(f: TableFigures) -> Advice | None:
    bound = options.LOG_RETENTION_BYTES.read(f.properties)
    if options.LOG_TTL.read(f.properties) > 0 or bound:
        return None
    growth = "" if not f.bytes_per_s else f", growing by {f.bytes_per_s * _DAY_S / _GB:,.2f} GB a day"
    there = "" if f.log_bytes is None else f" ({f.log_bytes / _MB:,.1f} MB{growth})"
    return Advice(
        "never expires",
        f"{options.LOG_TTL.key} is 0: {f.log_rows:,} rows{there} stay for ever",
        "a time to live" + (", since the lake keeps the history" if f.is_tiered else ", or a lake that keeps it"),
        "the disk fills up; state by key does not need the log behind its snapshot",
        _alter(f, options.LOG_TTL, "1d" if f.is_tiered else "7d"),
    )


def _hot_for_long(f: TableFigures) -> Advice | None:
    days = options.LOG_TTL.read(f.properties) / _DAY_MS
    if not f.is_tiered or days <= HOT_DAYS_MAX or (f.log_bytes or 0) < LARGE_LOG_BYTES:
        return None
    return Advice(
        "hot for long",
        f"{(f.log_bytes or 0) / _GB:,.1f} GB of log, kept for {days:.0f} days, beside a lake that has the same rows",
        "a day of log",
        "queries read the lake up to its snapshot and the log only behind it; the log is for readers who follow",
        _alter(f, options.LOG_TTL, "1d"),
    )


def _no_lake(f: TableFigures) -> Advice | None:
    if f.is_tiered or (f.log_bytes or 0) < LARGE_LOG_BYTES:
        return None
    return Advice(
        "no lake",
        f"{(f.log_bytes or 0) / _GB:,.1f} GB in the log, and no lake",
        "tier it into a lake",
        "columns in Parquet are smaller, older rows leave the server's disk, and every engine can read them",
        _alter(f, options.LAKE_ENABLED, "true"),
    )


# -- the lake ---------------------------------------------------------------------------------------------------------


def _small_files(f: TableFigures) -> Advice | None:
    if not f.lake_files or f.lake_bytes is None or f.lake_files < max(SMALL_FILES, 8 * f.buckets):
        return None
    if f.lake_bytes / f.lake_files >= SMALL_FILE_BYTES:
        return None
    automatic = options.LAKE_AUTO_COMPACTION.read(f.properties)
    deletes = f", {f.lake_delete_files:,} of them deletes" if f.lake_delete_files else ""
    return Advice(
        "small files",
        f"{f.lake_files:,} files in the lake of {f.lake_bytes / f.lake_files / _KB:,.0f} kB each{deletes}",
        "compact now" if automatic else "compact now, and let tiering do it from now on",
        "readers open every file, and small ones cost more to open than to read",
        f"lakeward tables compact {f.table}"
        + ("" if automatic else f"; {_alter(f, options.LAKE_AUTO_COMPACTION, 'true')}"),
    )


def _many_snapshots(f: TableFigures) -> Advice | None:
    if (f.lake_snapshots or 0) <= SNAPSHOTS_MAX or options.LAKE_AUTO_EXPIRE.read(f.properties):
        return None
    return Advice(
        "many snapshots",
        f"{f.lake_snapshots:,} snapshots in the lake, and {options.LAKE_AUTO_EXPIRE.key} is off",
        "let old snapshots expire",
        "each keeps its files, also those that were compacted away, and makes the table's metadata larger",
        f"expire them by the lake's own tools; for a new table -p {options.LAKE_AUTO_EXPIRE.key}=true",
    )


def _freshness(f: TableFigures) -> Advice | None:
    freshness_ms = options.LAKE_FRESHNESS.read(f.properties)
    if not f.is_tiered or not f.bytes_per_s or f.log_rows < ROWS_TO_JUDGE or freshness_ms >= 10 * _MINUTE_MS:
        return None
    a_round = f.bytes_per_s * max(freshness_ms, 1000) / 1000 / f.bucket_count
    if a_round >= ROUND_BYTES_MIN:
        return None
    wanted_ms = min(freshness_ms * ROUND_BYTES_MIN / a_round, 30 * _MINUTE_MS) if freshness_ms else 5 * _MINUTE_MS
    minutes = max(ceil(wanted_ms / _MINUTE_MS), 5)
    return Advice(
        "freshness",
        f"{a_round / _KB:,.1f} kB a bucket in each round, every {freshness_ms / 1000:,.0f} s",
        f"a freshness of {minutes} minutes",
        "each round writes a file for each bucket; rows are read from the log until then, so answers are as fresh",
        _alter(f, options.LAKE_FRESHNESS, f"{minutes}min"),
    )


# -- formats ----------------------------------------------------------------------------------------------------------


def _log_format(f: TableFigures) -> Advice | None:
    kept = options.LOG_FORMAT.read(f.properties)
    if f.has_primary_key or kept == "ARROW" or len(f.columns) < 3:
        return None
    return Advice(
        "log format",
        f"{options.LOG_FORMAT.key} is {kept}, with {len(f.columns)} columns",
        "ARROW",
        "columns that nobody asks for are then not sent, filters leave whole batches out, and batches compress",
        _anew(f, f"-p {options.LOG_FORMAT.key}=ARROW"),
    )


def _compression(f: TableFigures) -> Advice | None:
    plain = options.LOG_COMPRESSION.read(f.properties) == "NONE"
    if not plain or options.LOG_FORMAT.read(f.properties) != "ARROW" or (f.bytes_per_s or 0) < _MB:
        return None
    return Advice(
        "compression",
        f"{options.LOG_COMPRESSION.key} is NONE at {(f.bytes_per_s or 0) / _MB:,.1f} MB/s",
        "ZSTD",
        "the same rows in a fraction of the disk and the network, for a little of the writers' processors",
        _anew(f, f"-p {options.LOG_COMPRESSION.key}=ZSTD"),
    )


def _small_batches(f: TableFigures) -> Advice | None:
    if f.batch_rows is None or f.batch_rows >= SMALL_BATCH_ROWS or (f.rows_per_s_now or 0) < 100:
        return None
    return Advice(
        "small batches",
        f"{f.batch_rows:,.1f} rows a batch at {f.rows_per_s_now:,.0f} rows/s",
        "let writers gather rows",
        "a batch of few rows is mostly its head, on the wire, on disk and for every reader",
        "one writer for many rows (`table.writer()`), with client.writer.batch-timeout of a few milliseconds",
    )


def _changelog(f: TableFigures) -> Advice | None:
    if not f.has_primary_key or f.sampled_changes < ROWS_TO_JUDGE or f.update_share < 0.8:
        return None
    if options.LOG_COMPACTION.read(f.properties) or (f.key_rows or 0) * 4 > f.log_rows:
        return None
    return Advice(
        "changelog of updates",
        f"{f.update_share:.0%} of {f.sampled_changes:,} changes are updates; {f.log_rows:,} changes of "
        f"{f.key_rows or 0:,} rows",
        "compact the changelog",
        "closed segments then keep the last change of each key: who reads from the beginning reads less",
        _alter(f, options.LOG_COMPACTION, "true"),
    )


def _idle_key(f: TableFigures) -> Advice | None:
    if not f.has_primary_key or f.sampled_changes < ROWS_TO_JUDGE or f.update_share + f.delete_share > 0:
        return None
    if options.MERGE_ENGINE.read(f.properties) is not None:
        return None
    return Advice(
        "key that never updates",
        f"no update and no delete among {f.sampled_changes:,} changes",
        "a log table, unless rows are looked up by key or may be sent twice",
        "rows of a log table are written once and kept once; state by key costs memory and snapshots",
        _anew(f, "(without --primary-key)"),
    )


RULES = (
    Rule("few buckets", "rows and bytes a second that each bucket gets", _few_buckets),
    Rule(
        "many small buckets",
        "rows a second and bytes of an average bucket, where there are more than four",
        _small_buckets,
    ),
    Rule("skew", "rows of the fullest bucket against an average one, of tables with a bucket key", _skew),
    Rule("many partitions", "how many partitions there are, and how large they are", _many_partitions),
    Rule("partitions that stay", "partitioned tables whose partitions nobody drops", _partitions_stay),
    Rule("no partitions", "large tables without partitions that have a column with a time", _no_partitions),
    Rule("never expires", "tables whose rows are kept for ever in the log", _never_expires),
    Rule("hot for long", "tiered tables that are also kept in the log for more than three days", _hot_for_long),
    Rule("no lake", "large logs of tables that are not tiered", _no_lake),
    Rule("small files", "how many files the lake has of the table, and how large they are", _small_files),
    Rule("many snapshots", "snapshots of the lake's table that nobody expires", _many_snapshots),
    Rule("freshness", "bytes that a round of tiering has for each bucket", _freshness),
    Rule("log format", "log tables of many columns whose rows are stored one by one", _log_format),
    Rule("compression", "logs in Arrow format that are not compressed", _compression),
    Rule("small batches", "rows of a batch, by a look at the newest", _small_batches),
    Rule("changelog of updates", "the share of updates in a changelog that keeps the rows before them", _changelog),
    Rule("key that never updates", "primary key tables in which nothing is ever replaced or deleted", _idle_key),
)


def advise(figures: TableFigures) -> list[Advice]:
    """All that is worth a change, in the order of the rules; nothing where a table is fine."""
    return [found for rule in RULES if (found := rule.judge(figures)) is not None]
