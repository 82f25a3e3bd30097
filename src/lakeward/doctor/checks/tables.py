"""Tables: how their buckets are filled, how long rows are kept, how far readers are behind."""

from __future__ import annotations

from collections.abc import Iterator

from lakeward.doctor.facts.facts import Facts
from lakeward.doctor.facts.tables import TableFacts
from lakeward.doctor.findings.check import Check, Verdict, error, note, warning
from lakeward.options.server import MAX_PARTITION_NUM
from lakeward.options.table import (
    LAKE_ENABLED,
    LAKE_FRESHNESS,
    LOG_COMPACTION,
    LOG_LOCAL_TTL,
    LOG_RETENTION_BYTES,
    LOG_TTL,
)

#: A table of fewer rows may be as uneven as it likes.
_ROWS_MIN = 10_000
#: The fullest bucket has at least so many times its fair share.
_TIMES_UNEVEN = 3.0
_SMALL_ROWS = 1_000
_MANY_BUCKETS = 8
_PARTITIONS_NEAR = 0.8
_BUCKETS_MANY = 20_000
_LAG_ROWS, _LAG_SHARE = 100_000, 0.5
_QUIET_S = 600


def _skew(facts: Facts) -> Iterator[Verdict]:
    for table in facts.tables or ():
        rows = table.ends or ()
        total = sum(rows)
        if table.is_partitioned or len(rows) < 2 or total < _ROWS_MIN:
            continue
        fair = total / len(rows)
        most = max(rows)
        times = min(_TIMES_UNEVEN, 0.5 + len(rows) / 2)  # of two buckets none can have three times its share
        if most > times * fair:
            keys = ", ".join(table.bucket_keys) or "no column"
            yield warning(
                table.name,
                f"Bucket {list(rows).index(most)} of {table.name} got {most:,} of {total:,} rows, {most / fair:.1f}"
                f" times its share of {len(rows)} buckets (bucketed by {keys}).",
                f"Bucket by a column whose values are many and even; `lakeward tables advise {table.name}` says which.",
            )


def _small(facts: Facts) -> Iterator[Verdict]:
    for table in facts.tables or ():
        rows = table.rows
        if rows is None or len(rows) < _MANY_BUCKETS or table.is_partitioned:
            continue
        if sum(rows) and sum(rows) / len(rows) < _SMALL_ROWS and _is_old(facts, table.created_ms):
            yield note(
                table.name,
                f"The {len(rows)} buckets of {table.name} hold {sum(rows):,} rows, {sum(rows) // len(rows)} each:"
                " every one costs files, requests and small lake files.",
                f"Fewer buckets would do: `lakeward tables advise {table.name}`.",
            )


def _is_old(facts: Facts, created_ms: int) -> bool:
    return facts.now_ms - created_ms > 86_400_000


def _retention(facts: Facts) -> Iterator[Verdict]:
    for table in facts.tables or ():
        ttl_ms = LOG_TTL.read(table.properties)
        if LAKE_ENABLED.read(table.properties):
            yield from _against_tiering(table, ttl_ms)
        local_ms = LOG_LOCAL_TTL.read(table.properties)
        if ttl_ms and local_ms is not None and local_ms > ttl_ms:
            yield note(
                table.name,
                f"'{LOG_LOCAL_TTL.key}' of {table.name} is longer than '{LOG_TTL.key}', which deletes first.",
                f"`lakeward tables alter {table.name} --set {LOG_LOCAL_TTL.key}=…` to less than {span(ttl_ms)}.",
            )


def _against_tiering(table: TableFacts, ttl_ms: int) -> Iterator[Verdict]:
    """Rows that go before they are in the lake are lost to both."""
    freshness_ms = LAKE_FRESHNESS.read(table.properties)
    lag_ms = (table.lag_seconds or 0.0) * 1000
    how = f"`lakeward tables alter {table.name} --set {LOG_TTL.key}=7d`"
    if ttl_ms and ttl_ms <= freshness_ms:
        yield error(
            table.name,
            f"Rows of {table.name} are kept for {span(ttl_ms)} ('{LOG_TTL.key}') and come into the lake after up to"
            f" {span(freshness_ms)} ('{LAKE_FRESHNESS.key}').",
            f"Keep them longer than rounds take: {how}.",
        )
    elif ttl_ms and lag_ms > ttl_ms / 2:
        yield error(
            table.name,
            f"The lake is {span(lag_ms)} behind {table.name}, and rows are due to be deleted after {span(ttl_ms)}.",
            f"See that tiering goes on (`lakeward tier status`), and keep rows longer: {how}.",
        )


def _growth(facts: Facts) -> Iterator[Verdict]:
    for table in facts.tables or ():
        if LOG_TTL.read(table.properties) or LOG_RETENTION_BYTES.read(table.properties):
            continue
        if LOG_COMPACTION.read(table.properties) or table.name.startswith("lakeward."):
            continue
        yield note(
            table.name,
            f"The log of {table.name} grows without end: '{LOG_TTL.key}' is 0 and no size is set.",
            f"If that is not meant: `lakeward tables alter {table.name} --set {LOG_TTL.key}=7d`.",
        )


def _partition_growth(facts: Facts) -> Iterator[Verdict]:
    most = MAX_PARTITION_NUM.read(facts.options or {})
    for table in facts.tables or ():
        if table.partitions > _PARTITIONS_NEAR * most:
            yield warning(
                table.name,
                f"{table.name} has {table.partitions:,} partitions; {most:,} are the most ('{MAX_PARTITION_NUM.key}').",
                f"Let old ones go: `lakeward tables alter {table.name} --set table.auto-partition.num-retention=7`, or"
                " partition by a longer time.",
            )
    total = sum(table.buckets_in_all for table in facts.tables or ())
    if total > _BUCKETS_MANY:
        yield note(
            "cluster",
            f"There are {total:,} buckets; each has files, and starts, snapshots and requests are slower with many.",
            "Make fewer buckets for small tables: `lakeward tables advise`.",
        )


def _high_lag(facts: Facts) -> Iterator[Verdict]:
    for group in facts.groups or ():
        if group.lost_rows:
            yield error(
                f"{group.group}: {group.table}",
                f"{group.lost_rows:,} rows of {group.table} were deleted before group {group.group} has read them.",
                f"Read them from the lake if they are there; keep rows longer ('{LOG_TTL.key}'), and see"
                f" `lakeward groups describe {group.group}`.",
            )
        quiet_s = max(0, facts.now_ms - group.committed_ms) / 1000
        if group.lag_rows > _LAG_ROWS and group.lag_rows > _LAG_SHARE * max(group.rows, 1):
            stopped = f" and has committed nothing for {span(quiet_s * 1000)}" if quiet_s > _QUIET_S else ""
            yield warning(
                f"{group.group}: {group.table}",
                f"Group {group.group} is {group.lag_rows:,} rows behind in {group.table}{stopped}.",
                "Start its reader again if it has stopped; otherwise read with more tasks, up to one for each bucket:"
                f" `lakeward groups describe {group.group}`.",
            )


def span(ms: float) -> str:
    """A time as people say it."""
    for size, name in ((86_400_000, "days"), (3_600_000, "hours"), (60_000, "minutes"), (1000, "seconds")):
        if ms >= size:
            return f"{ms / size:,.0f} {name if ms / size >= 1.5 else name[:-1]}"
    return f"{ms:,.0f} ms"


TABLE_CHECKS = (
    Check("bucket-skew", "Whether some buckets of a table get most of its rows.", _skew, needs=("tables",)),
    Check("small-buckets", "Tables with many buckets that hold next to nothing.", _small, needs=("tables",)),
    Check("many-buckets", "Partitions and buckets in all, against what is good.", _partition_growth, needs=("tables",)),
    Check(
        "retention",
        "Whether rows are kept until they are in the lake.",
        _retention,
        needs=("tables",),
    ),
    Check("endless-growth", "Logs that nothing ever shortens.", _growth, needs=("tables",)),
    Check("high-lag", "How far groups of readers are behind, and what they have lost.", _high_lag, needs=("groups",)),
)
