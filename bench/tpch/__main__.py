"""`python -m bench.tpch [--factor F] [--format iceberg|paimon] [--kind log|key] [--engine duckdb|rest|spark]`

The 22 queries of TPC-H over tables that are four fifths in the lake and one fifth in the log, with updates and deletes
after it where the tables have keys, beside the same engine on Parquet of the same final rows. Both answer by turns,
and their answers are compared. `--load` only fills the cache, so that a measurement has the machine for short.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable

from bench.tpch.data import FORMATS, KINDS, Loaded, loaded
from bench.tpch.sides import ENGINES, Rows, Sides, same


def main() -> None:
    """Run, print."""
    parser = argparse.ArgumentParser(prog="bench.tpch", description=__doc__)
    parser.add_argument("--factor", type=float, default=0.1, help="scale factor (default 0.1)")
    parser.add_argument("--format", choices=FORMATS, default="iceberg", help="of the lake (default iceberg)")
    parser.add_argument("--kind", choices=KINDS, default="log", help="log or primary key tables (default log)")
    parser.add_argument("--engine", choices=sorted(ENGINES), default="duckdb", help="default duckdb")
    parser.add_argument("--rounds", type=int, default=3, help="turns that count, after one that does not (default 3)")
    parser.add_argument("--queries", type=int, nargs="*", help="some of the 22 (default all)")
    parser.add_argument("--load", action="store_true", help="only load the tables")
    arguments = parser.parse_args()
    with loaded(arguments.factor, arguments.format, arguments.kind) as tables:
        if not arguments.load:
            with ENGINES[arguments.engine](tables) as sides:
                report(tables, sides, arguments.rounds, arguments.queries)


def report(tables: Loaded, sides: Sides, rounds: int, numbers: list[int] | None = None) -> float:
    """Run and print query by query; the ratio of the totals."""
    chosen = numbers or sorted(tables.queries)
    totals = [0.0, 0.0]
    wrong = []
    for number in chosen:
        sql = tables.queries[number]
        seconds, is_same = _by_turns(sides, sql, rounds)
        totals = [total + one for total, one in zip(totals, seconds, strict=True)]
        if not is_same:
            wrong.append(number)
        print(_line(f"query {number}", *seconds), "" if is_same else " ANSWERS DIFFER", flush=True)
    print(_line("total", *totals))
    if wrong:
        raise SystemExit(f"answers differ: {wrong}")
    return totals[0] / totals[1]


def _by_turns(sides: Sides, sql: str, rounds: int) -> tuple[list[float], bool]:
    """Seconds of the union and of the plain side, medians; and whether they answered alike each time."""
    times: tuple[list[float], list[float]] = ([], [])
    is_same = True
    for number in range(rounds + 1):
        found = [_timed(run, sql) for run in sides]
        is_same = is_same and same(found[0][0], found[1][0])
        if number:
            for seconds, (_, took) in zip(times, found, strict=True):
                seconds.append(took)
    return [statistics.median(one) for one in times], is_same


def _timed(run: Callable[[str], Rows], sql: str) -> tuple[Rows, float]:
    begun = time.perf_counter()
    found = run(sql)
    return found, time.perf_counter() - begun


def _line(what: str, union: float, plain: float) -> str:
    return f"{what:>9}  union {union * 1000:8.1f} ms  plain {plain * 1000:8.1f} ms  {union / plain:5.2f} ×"


if __name__ == "__main__":
    main()
