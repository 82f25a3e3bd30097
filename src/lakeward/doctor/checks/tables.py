"""Tables: how their buckets are filled, and how long rows are kept."""

from __future__ import annotations

from collections.abc import Iterator

from lakeward.doctor.facts.facts import Facts
from lakeward.doctor.findings.check import Check, Verdict, note, warning

#: A table of fewer rows may be as uneven as it likes.
_ROWS_MIN = 10_000
#: The fullest bucket has at least so many times its fair share.
_TIMES_UNEVEN = 3.0
_SMALL_ROWS = 1_000
_MANY_BUCKETS = 8


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


TABLE_CHECKS = (
    Check("bucket-skew", "Whether some buckets of a table get most of its rows.", _skew, needs=("tables",)),
    Check("small-buckets", "Tables with many buckets that hold next to nothing.", _small, needs=("tables",)),
)
