"""`python -m bench.union [--rows N] [--keys N] [--partitions N] [--spark]`: hot and cold as one table.

Writes docs/benchmarks-union.md.
"""

from __future__ import annotations

import argparse
import datetime as dt
import statistics

from bench.report import UNION_PAGE, Line, markdown
from bench.targets import Target, lakeward, warm_memory
from bench.union import planning, work

#: How much longer than the cold files alone each read of a table by key may take.
_KEYED_MOST = {"every column": 2, "count and sum": 1.5}


def main() -> None:
    """Run, print, write."""
    parser = argparse.ArgumentParser(prog="bench.union", description=__doc__)
    parser.add_argument("--rows", type=int, default=10_000_000, help="rows of the log table (default 10,000,000)")
    parser.add_argument("--keys", type=int, default=5_000_000, help="keys of the table by key (default 5,000,000)")
    parser.add_argument("--changes", type=int, default=100_000, help="keys that changed since (default 100,000)")
    parser.add_argument("--partitions", type=int, default=1_000, help="partitions of the wide table (default 1,000)")
    parser.add_argument("--rounds", type=int, default=7, help="turns of each read (default 7)")
    parser.add_argument("--spark", action="store_true", help="also beside Spark, reading the cold files alone")
    parser.add_argument("--no-write", action="store_true", help="leave docs/benchmarks-union.md as it is")
    arguments = parser.parse_args()
    warm_memory()
    target = lakeward()
    try:
        lines = _measured(target, arguments)
    finally:
        target.stop()
    page = markdown(
        lines,
        f"{dt.date.today():%Y-%m-%d}",
        arguments.rounds,
        _notes(),
        title="Benchmarks: union reads",
        peer="beside it",
    )
    print(page)
    if not arguments.no_write:
        UNION_PAGE.write_text(page)


def _measured(target: Target, arguments: argparse.Namespace) -> list[Line]:
    with work.lake_on(target) as lake:
        log = work.log_table(lake, arguments.rows)
        lines = [_log(lake, log, arguments), _first(lake, log, arguments)]
        if arguments.spark:
            lines.insert(1, _beside_spark(lake, log, arguments))
        keyed = work.keyed_table(lake, arguments.keys, arguments.changes)
        lines += [_keyed(lake, keyed, arguments, *read) for read in work.KEYED_READS]
        wide = planning.wide_table(lake, arguments.partitions, 16)
        lines += _planning(lake, wide, arguments)
    return lines


def _log(lake: work.Lake, table: work.Table, arguments: argparse.Namespace) -> Line:
    union, cold = work.union(table, work.LOG_SQL), work.cold_files(lake.files(table), work.LOG_SQL)
    rows, cold_rows = union()[0], cold()[0]
    seconds, cold_seconds = work.side_by_side(union, cold, arguments.rounds)
    what = f"log table, {rows:,} rows, {cold_rows / rows:.0%} of them cold: count and sum"
    return _rates(f"{what}; beside it DuckDB, the cold files alone", rows / seconds, cold_rows / cold_seconds)


def _beside_spark(lake: work.Lake, table: work.Table, arguments: argparse.Namespace) -> Line:
    from bench.union.spark import spark_reads

    (rows, seconds), (cold_rows, cold_seconds) = spark_reads(lake, table, arguments.rounds)
    what = f"the same in Spark, {rows:,} rows; beside it Spark, the cold files alone"
    return _rates(what, rows / seconds, cold_rows / cold_seconds)


def _rates(what: str, ours: float, other: float) -> Line:
    return Line(what, f"{ours / 1e6:.1f} Mrow/s", f"{other / 1e6:.1f} Mrow/s", "≥ 0.9 ×", ours / other, 0.9)


def _first(lake: work.Lake, table: work.Table, arguments: argparse.Namespace) -> Line:
    told = [work.first_answer_s(lake, table, work.LOG_SQL) for _ in range(max(arguments.rounds // 2, 1))]
    first, whole = (statistics.median(seconds) for seconds in zip(*told, strict=True))
    what = f"first answer of a new process after connect, {arguments.rows:,} rows, no JVM; beside it the whole process"
    return Line(what, f"{first:.2f} s", f"{whole:.2f} s", "≤ 0.5 s", first, 0.5, at_least=False)


def _keyed(lake: work.Lake, table: work.Table, arguments: argparse.Namespace, name: str, sql: str) -> Line:
    union, cold = work.union(table, sql), work.cold_files(lake.files(table), sql)
    seconds, cold_seconds = work.side_by_side(union, cold, arguments.rounds)
    what = f"primary key table, {arguments.keys:,} keys cold, {arguments.changes:,} changed since: {name}"
    return Line(
        f"{what}; beside it DuckDB, the cold files alone",
        f"{seconds * 1000:.0f} ms",
        f"{cold_seconds * 1000:.0f} ms",
        f"< {_KEYED_MOST[name]} ×",
        seconds / cold_seconds,
        _KEYED_MOST[name],
        at_least=False,
    )


def _planning(lake: work.Lake, table: work.Table, arguments: argparse.Namespace) -> list[Line]:
    first, again, splits = planning.planning_s(lake, table, arguments.rounds)
    what = f"planning of {arguments.partitions:,} partitions × 16 buckets, {splits:,} splits"
    return [
        Line(f"{what}: {which}", f"{seconds:.2f} s", "–", "< 1 s", seconds, 1, at_least=False)
        for which, seconds in (("the first plan of a process", first), ("a later plan", again))
    ]


def _notes() -> list[str]:
    return [
        f"The log table has ten columns, about 92 bytes a row, 2 buckets; the table by key {len(work.KEYED)} columns.",
        "A union read is planned anew each time, and ends when the answer is there; DuckDB alone is told the files.",
        "Rates count the rows that each side reads: all, or the cold ones. Both use one open DuckDB, set alike.",
        "The wide table is on a real server; of its files in the lake one is written, the others are copied entries.",
        "Server, client and DuckDB share the same two cores.",
    ]


if __name__ == "__main__":
    main()
