"""`python -m bench.spark [--rows N] [--rounds N]`: the Spark connector; prints, and writes docs/benchmarks-spark.md."""

from __future__ import annotations

import argparse
import datetime as dt

from bench.report import SPARK_PAGE, Line, markdown
from bench.spark.work import SparkFigures, measure
from bench.targets import lakeward, warm_memory


def main() -> None:
    """Run, print, write."""
    parser = argparse.ArgumentParser(prog="bench.spark", description=__doc__)
    parser.add_argument("--rows", type=int, default=4_000_000, help="rows read and written (default 4,000,000)")
    parser.add_argument("--rounds", type=int, default=5, help="repeats of each work; the median counts (default 5)")
    parser.add_argument("--no-write", action="store_true", help="leave docs/benchmarks-spark.md as it is")
    arguments = parser.parse_args()
    warm_memory()
    target = lakeward()
    try:
        figures = measure(target, arguments.rows, arguments.rounds)
    finally:
        target.stop()
    page = markdown(
        _lines(figures),
        f"{dt.date.today():%Y-%m-%d}",
        arguments.rounds,
        _notes(arguments.rows),
        title="Benchmarks: Spark",
        peer="beside it",
    )
    print(page)
    if not arguments.no_write:
        SPARK_PAGE.write_text(page)


def _lines(f: SparkFigures) -> list[Line]:
    return [
        _compared("batch read of a log table, all columns; beside it Parquet", f.read, f.read_parquet, 0.8),
        _compared("sum of one column, pruned; beside it the read of all columns", f.read_pruned, f.read, 3.0),
        _compared("append from Spark; beside it a write of Parquet", f.append, f.append_parquet, 0.6),
        Line(
            "append until a streaming query has the row, p50, default trigger; beside it p95",
            f"{f.seen_p50_ms:.0f} ms",
            f"{f.seen_p95_ms:.0f} ms",
            "< 500 ms",
            f.seen_p50_ms,
            500,
            at_least=False,
        ),
        Line(
            "lookup join, cache of half the keys; beside it mapInArrow that does nothing",
            _rate(f.lookup_join),
            _rate(f.lookup_floor),
            "≥ 0.1 Mrow/s",
            f.lookup_join / 1e6,
            0.1,
        ),
    ]


def _compared(work: str, ours: float, other: float, limit: float) -> Line:
    return Line(work, _rate(ours), _rate(other), f"≥ {limit} ×", ours / other, limit)


def _rate(rows_a_second: float) -> str:
    return f"{rows_a_second / 1e6:.2f} Mrow/s"


def _notes(rows: int) -> list[str]:
    return [
        f"{rows:,} rows of ten columns, about 92 bytes a row, 2 buckets, zstd on both sides; one session on local[2].",
        "Reads go to Spark's noop sink, which takes every row; appends come from rows that Spark holds in memory.",
        "Server, JVM and Python processes share the same two cores.",
    ]


if __name__ == "__main__":
    main()
