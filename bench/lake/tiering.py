"""`python -m bench.lake.tiering [--rows N] [--large] [--steady]`: tiering on Spark; docs/benchmarks-tiering.md."""

from __future__ import annotations

import argparse
import datetime as dt
import statistics

from bench.lake import tiering_work as work
from bench.report import TIERING_PAGE, Line, markdown
from bench.targets import lakeward, warm_memory

#: Apache Fluss 0.9.1 with Flink 1.20.3 on this kind of machine, request to commit: rows a second.
_FLINK = {"iceberg": 234_000, "paimon": 674_000, "keyed": 137_000}
_FLINK_FIRST_S = 22
_FIRST_MOST_S = 12


def main() -> None:
    """Run, print, write."""
    parser = argparse.ArgumentParser(prog="bench.lake.tiering", description=__doc__)
    parser.add_argument("--rows", type=int, default=4_000_000, help="rows of a log table's round (default 4,000,000)")
    parser.add_argument("--keys", type=int, default=1_000_000, help="keys of a table by key (default 1,000,000)")
    parser.add_argument("--large", action="store_true", help="also a round of 20,000,000 rows")
    parser.add_argument("--steady", action="store_true", help="also two minutes of a steady load")
    parser.add_argument("--no-write", action="store_true", help="leave docs/benchmarks-tiering.md as it is")
    arguments = parser.parse_args()
    warm_memory()
    target = lakeward()
    try:
        lines = _measured(target, arguments)
    finally:
        target.stop()
    page = markdown(
        lines, f"{dt.date.today():%Y-%m-%d}", 1, _notes(arguments), title="Benchmarks: tiering", peer="beside it"
    )
    print(page)
    if not arguments.no_write:
        TIERING_PAGE.write_text(page)


def _measured(target: work.Target, arguments: argparse.Namespace) -> list[Line]:
    parquet = work.parquet_rate(arguments.rows)
    lines = []
    with work.rounds_on(target) as rounds:
        sizes = [arguments.rows, 20_000_000] if arguments.large else [arguments.rows]
        for rows in sizes:
            rate = work.log_round(rounds, "iceberg", rows)
            what = f"log table into Iceberg, {rows:,} rows"
            lines.append(_against(f"{what}; beside it Flink's tiering", rate, _FLINK["iceberg"], 5))
            lines.append(_against(f"{what}; beside it pyarrow's Parquet writer in this run", rate, parquet, 0.8))
        with work.other_work():
            parquet = work.parquet_rate(arguments.rows)
            rate = work.log_round(rounds, "iceberg", arguments.rows, "beside")
        what = f"log table into Iceberg, {arguments.rows:,} rows, while two other processes take what they get"
        lines.append(_against(f"{what}; beside it pyarrow's Parquet writer among them, too", rate, parquet, 0.8))
        paimon = work.log_round(rounds, "paimon", arguments.rows)
        lines.append(_against("log table into Paimon; beside it Flink's tiering", paimon, _FLINK["paimon"], 2))
        memory = work.driver_memory_mb()
        small = work.small_rounds(rounds, "iceberg", 100_000, 20)
        for lake_format, count in (("iceberg", 20), ("paimon", 3)):
            first, later = work.keyed_rounds(rounds, lake_format, arguments.keys, 100_000, count)
            what = f"{arguments.keys:,} new keys into {lake_format.capitalize()}"
            lines.append(_against(f"{what}, first round; beside it Flink's tiering", first, _FLINK["keyed"], 3))
            lines.append(
                _slowest(f"rounds of 100,000 changes of them, {count} rounds, the slowest; beside it the first", later)
            )
        lines.append(_growth("20 rounds of 100,000 rows: the last five against the first five", small))
        lines.append(Line("the driver's memory at its peak", f"{memory:.0f} MB", "–", "–", None, 0))
    first_s = work.first_commit_s(target, arguments.rows)
    lines.append(
        Line(
            "from the start of the command to the first commit; beside it Flink's",
            f"{first_s:.1f} s",
            f"{_FLINK_FIRST_S} s",
            f"≤ {_FIRST_MOST_S} s",
            first_s,
            _FIRST_MOST_S,
            at_least=False,
        )
    )
    if arguments.steady:
        lags = work.lag_s(target, 50_000, 120)
        p99 = lags[int(len(lags) * 0.99)]
        lines.append(
            Line(
                "freshness 10 s under 50,000 rows a second: lag of the lake, p99; beside it p50",
                f"{p99:.1f} s",
                f"{statistics.median(lags):.1f} s",
                "< 20 s",
                p99,
                20,
                at_least=False,
            )
        )
    return lines


def _against(what: str, ours: float, other: float, limit: float) -> Line:
    return Line(what, f"{ours / 1e6:.2f} Mrow/s", f"{other / 1e6:.2f} Mrow/s", f"≥ {limit} ×", ours / other, limit)


def _slowest(what: str, seconds: list[float]) -> Line:
    worst = max(seconds)
    return Line(what, f"{worst:.2f} s", f"{seconds[0]:.2f} s", "< 2 s", worst, 2, at_least=False)


def _growth(what: str, seconds: list[float]) -> Line:
    first, last = statistics.median(seconds[:5]), statistics.median(seconds[-5:])
    return Line(what, f"{last:.2f} s", f"{first:.2f} s", "no growth", last / first, 1.2, at_least=False)


def _notes(arguments: argparse.Namespace) -> list[str]:
    return [
        f"{arguments.rows:,} rows of ten columns, about 92 bytes a row, 2 buckets; Spark local[2], warmed up.",
        (
            "A round is timed from its start to the report after the lake's commit. Flink's figures were measured on "
            "such a machine, not in this run."
        ),
        "Server, JVM and Python workers share the same two cores.",
    ]


if __name__ == "__main__":
    main()
