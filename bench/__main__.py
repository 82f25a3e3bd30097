"""`python -m bench [--rows N] [--rounds N]`: runs everything, prints the table, writes docs/benchmarks.md."""

from __future__ import annotations

import argparse
import asyncio
import datetime as dt
import statistics
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager

from bench import apache_fluss, own_client_work, pyfluss_work, raw_work
from bench.pyfluss_work import Measured
from bench.report import PAGE, Line, markdown
from bench.targets import Target, lakeward, warm_memory

Figures = dict[str, list[float]]


def main() -> None:
    """Run, print, write."""
    parser = argparse.ArgumentParser(prog="bench", description=__doc__)
    parser.add_argument("--rows", type=int, default=4_000_000, help="rows appended and scanned (default 4,000,000)")
    parser.add_argument("--rounds", type=int, default=3, help="rounds; the median counts (default 3)")
    parser.add_argument("--no-write", action="store_true", help="leave docs/benchmarks.md as it is")
    parser.add_argument("--alone", action="store_true", help="do not start Apache Fluss even if it can be had")
    arguments = parser.parse_args()
    warm_memory()
    starts = {"Lakeward": lakeward}
    if apache_fluss.available() and not arguments.alone:
        starts["Apache Fluss"] = apache_fluss.start
    figures: dict[str, Figures] = {name: defaultdict(list) for name in starts}
    for number in range(arguments.rounds + 1):
        for name, start in starts.items():
            print(f"round {number} of {arguments.rounds}: {name}", flush=True)
            with _running(start()) as target:
                measured: Figures = defaultdict(list)
                _measure(target, measured, arguments.rows, is_ours=name == "Lakeward")
                if number:  # the first round warms the machine
                    for key, values in measured.items():
                        figures[name][key] += values
    page = markdown(_lines(figures), f"{dt.date.today():%Y-%m-%d}", arguments.rounds, _notes(arguments.rows))
    print(page)
    if not arguments.no_write:
        PAGE.write_text(page)


@contextmanager
def _running(target: Target) -> Iterator[Target]:
    try:
        yield target
    finally:
        target.stop()


def _measure(target: Target, figures: Figures, rows: int, *, is_ours: bool) -> None:
    figures["start s"].append(target.start_s)
    figures["idle MB"].append(target.memory_mb())
    asyncio.run(_warm_up(target))
    _note(figures, "append", asyncio.run(pyfluss_work.append(target, rows)))
    _note(figures, "scan", asyncio.run(pyfluss_work.scan(target, rows)))
    _note(figures, "scan 2", asyncio.run(pyfluss_work.scan(target, rows, ["user_id", "score"])))
    figures["used MB"].append(target.memory_mb())
    _note(figures, "ack", asyncio.run(pyfluss_work.acknowledge(target, 1000)))
    _note(figures, "tail", asyncio.run(pyfluss_work.visible(target, 200 if is_ours else 20)))
    _note(figures, "own append", own_client_work.append(target, rows))
    _note(figures, "own scan", own_client_work.scan(target))
    if is_ours:
        append, fetch = raw_work.measure(target)
        figures["raw append"].append(append)
        figures["raw fetch"].append(fetch)


async def _warm_up(target: Target) -> None:
    """A JVM is slow at first; give it, and us, a run that does not count."""
    await pyfluss_work.append(target, 1_000_000, "bench_warm")
    await pyfluss_work.scan(target, 1_000_000, name="bench_warm")
    await pyfluss_work.acknowledge(target, 300)


def _note(figures: Figures, name: str, measured: Measured) -> None:
    figures[f"{name} rate"].append(measured.rate)
    figures[f"{name} cpu"].append(measured.server_cpu_s)
    figures[f"{name} p50"].append(measured.p50_ms)
    figures[f"{name} p99"].append(measured.p99_ms)


def _lines(figures: dict[str, Figures]) -> list[Line]:
    def ours(key: str) -> float:
        return statistics.median(figures["Lakeward"][key])

    def theirs(key: str) -> float | None:
        measured = figures.get("Apache Fluss", {}).get(key)
        return statistics.median(measured) if measured else None

    def compared(
        work: str, key: str, unit: str, limit: float, promise: str, *, at_least: bool = True, peer: str = ""
    ) -> Line:
        mine, other = ours(key), theirs(peer or key)
        ratio = mine / other if other else None
        return Line(work, _show(mine, unit), _show(other, unit), promise, ratio, limit, at_least)

    def absolute(work: str, key: str, unit: str, limit: float, promise: str, *, at_least: bool = False) -> Line:
        return Line(work, _show(ours(key), unit), _show(theirs(key), unit), promise, ours(key), limit, at_least)

    lines = [
        compared("pyfluss: append, Arrow batches of 50,000 rows", "append rate", "Mrow/s", 1.0, "≥ 1.0 ×"),
        compared("pyfluss: full scan", "scan rate", "Mrow/s", 1.0, "≥ 1.0 ×"),
        compared("pyfluss: scan of 2 in 10 columns", "scan 2 rate", "Mrow/s", 1.0, "≥ 1.0 ×"),
        compared("the server's CPU for that append", "append cpu", "s", 0.8, "≤ 0.8 ×", at_least=False),
        compared("the server's CPU for that scan", "scan cpu", "s", 0.8, "≤ 0.8 ×", at_least=False),
        compared(
            "our client: append, against pyfluss on Apache Fluss",
            "own append rate",
            "Mrow/s",
            1.5,
            "≥ 1.5 ×",
            peer="append rate",
        ),
        compared(
            "our client: scan, against pyfluss on Apache Fluss",
            "own scan rate",
            "Mrow/s",
            1.5,
            "≥ 1.5 ×",
            peer="scan rate",
        ),
        compared("one row acknowledged, p50", "ack p50", "ms", 1.5, "≤ 1.5 ×", at_least=False),
        compared("one row acknowledged, p99", "ack p99", "ms", 1.5, "≤ 1.5 ×", at_least=False),
        absolute("one row until a tailing scanner has it, p50", "tail p50", "ms", 3.0, "< 3 ms"),
        absolute(
            "raw append of 1 MB batches, share of the loopback's rate", "raw append", "×", 0.45, "≥ 0.45", at_least=True
        ),
        absolute(
            "raw fetch of 1 MB batches, share of the loopback's rate", "raw fetch", "×", 0.5, "≥ 0.5", at_least=True
        ),
        absolute("memory, idle", "idle MB", "MB", 120, "< 120 MB"),
        absolute("memory, after the scans", "used MB", "MB", 400, "< 400 MB"),
        absolute("start until ready", "start s", "s", 2.0, "< 2 s"),
    ]
    extra = [
        ("own append rate", "our client: append, each on its own server"),
        ("own scan rate", "our client: scan, each on its own server"),
    ]
    for key, work in extra:
        lines.append(compared(work, key, "Mrow/s", 0.0, "–"))
    return lines


def _show(value: float | None, unit: str) -> str:
    if not value:
        return "–"
    return f"{value / 1e6:.2f} {unit}" if unit == "Mrow/s" else f"{value:.3g} {unit}"


def _notes(rows: int) -> list[str]:
    return [
        f"{rows:,} rows of ten columns, about 92 bytes a row, 2 buckets, zstd, `acks=all`; pyfluss 1.0.0.",
        (
            f"Apache Fluss {apache_fluss.VERSION} from its published jar, one of each server, three JVMs, warmed up. "
            "It is started where Maven and Java are present; without them the page has our figures only."
        ),
        "The server's CPU is user and system time of all its processes while the client worked.",
        (
            "Memory is touched once before the first round: on a virtual machine the first use of a page is up to ten "
            "times slower than the second, and would be charged to whoever comes first."
        ),
    ]


if __name__ == "__main__":
    main()
