"""`python -m bench [--rows N] [--rounds N] [--only log|kv] [--large]`: prints figures, writes docs/benchmarks.md."""

from __future__ import annotations

import argparse
import asyncio
import datetime as dt
import statistics
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager

from bench import apache_fluss
from bench.kv import work as kv_work
from bench.report import PAGE, Line, markdown
from bench.server import own_client_work, pyfluss_work, raw_work
from bench.server.pyfluss_work import Measured
from bench.targets import Target, lakeward, warm_memory

Figures = dict[str, list[float]]
PARTS = ("log", "kv")
_RECOVERED_KEYS = 1_000_000
_RECOVERED_KEYS_LARGE = 10_000_000


def main() -> None:
    """Run, print, write."""
    parser = argparse.ArgumentParser(prog="bench", description=__doc__)
    parser.add_argument("--rows", type=int, default=4_000_000, help="rows appended and scanned (default 4,000,000)")
    parser.add_argument("--rounds", type=int, default=3, help="rounds; the median counts (default 3)")
    parser.add_argument("--no-write", action="store_true", help="leave docs/benchmarks.md as it is")
    parser.add_argument("--alone", action="store_true", help="do not start Apache Fluss even if it can be had")
    parser.add_argument("--keys", type=int, default=500_000, help="rows of the primary key table (default 500,000)")
    parser.add_argument("--only", choices=PARTS, help="one part alone; docs/benchmarks.md is left as it is")
    parser.add_argument("--large", action="store_true", help="also recover 10,000,000 keys after kill -9, once")
    arguments = parser.parse_args()
    parts = (arguments.only,) if arguments.only else PARTS
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
                if "log" in parts:
                    _measure(target, measured, arguments.rows, is_ours=name == "Lakeward")
                if "kv" in parts:
                    _measure_kv(target, measured, arguments.keys, is_ours=name == "Lakeward")
                if number:  # the first round warms the machine
                    for key, values in measured.items():
                        figures[name][key] += values
    if arguments.large and "kv" in parts:
        _measure_large(figures["Lakeward"])
    lines = (_lines(figures) if "log" in parts else []) + (_kv_lines(figures) if "kv" in parts else [])
    notes = _notes(arguments.rows, arguments.keys)
    page = markdown(lines, f"{dt.date.today():%Y-%m-%d}", arguments.rounds, notes)
    print(page)
    if not arguments.no_write and not arguments.only:
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
    _note(figures, "own ack", own_client_work.acknowledge(target, 1000))
    if is_ours:
        append, fetch = raw_work.measure(target)
        figures["raw append"].append(append)
        figures["raw fetch"].append(fetch)


def _measure_kv(target: Target, figures: Figures, keys: int, *, is_ours: bool) -> None:
    asyncio.run(kv_work.upsert(target, min(keys, 200_000), "bench_kv_warm"))
    for name, measured in zip(("kv new", "kv again"), asyncio.run(kv_work.upsert(target, keys)), strict=True):
        _note(figures, name, measured)
    for name, measured in zip(("own kv new", "own kv again"), kv_work.own_upsert(target, keys), strict=True):
        _note(figures, name, measured)
    for name, measured in zip(("lookups", "lookup", "changelog"), kv_work.own_reads(target, keys), strict=True):
        _note(figures, name, measured)
    if is_ours:
        recovered = kv_work.recover(_RECOVERED_KEYS)
        figures["kv ready s"].append(recovered.ready_s)
        figures["kv answered s"].append(recovered.answered_s)
        figures["key bytes"].append(kv_work.memory_per_key_bytes(keys))


def _measure_large(figures: Figures) -> None:
    print(f"kill -9 with {_RECOVERED_KEYS_LARGE:,} keys", flush=True)
    recovered = kv_work.recover(_RECOVERED_KEYS_LARGE)
    figures["kv large answered s"].append(recovered.answered_s)
    figures["kv large MB"].append(recovered.memory_peak_mb)


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


class _Compare:
    """Figures of both servers, as lines of the table."""

    def __init__(self, figures: dict[str, Figures]) -> None:
        self._figures = figures

    def _ours(self, key: str) -> float:
        return statistics.median(self._figures["Lakeward"][key])

    def _theirs(self, key: str) -> float | None:
        measured = self._figures.get("Apache Fluss", {}).get(key)
        return statistics.median(measured) if measured else None

    def compared(
        self, work: str, key: str, unit: str, limit: float, promise: str, *, at_least: bool = True, peer: str = ""
    ) -> Line:
        """A promise relative to the peer."""
        mine, other = self._ours(key), self._theirs(peer or key)
        ratio = mine / other if other else None
        return Line(work, _show(mine, unit), _show(other, unit), promise, ratio, limit, at_least)

    def absolute(self, work: str, key: str, unit: str, limit: float, promise: str, *, at_least: bool = False) -> Line:
        """A promise by itself."""
        mine = self._ours(key)
        judged = mine / 1e6 if unit == "Mrow/s" else mine
        return Line(work, _show(mine, unit), _show(self._theirs(key), unit), promise, judged, limit, at_least)


def _kv_lines(figures: dict[str, Figures]) -> list[Line]:
    compare = _Compare(figures)
    compared, absolute = compare.compared, compare.absolute
    lines = []
    for key, what in (("kv new", "new keys"), ("kv again", "existing keys")):
        lines += [
            compared(f"pyfluss: upsert of {what}, row by row", f"{key} rate", "Mrow/s", 1.0, "≥ 1.0 ×"),
            compared("the server's CPU for that", f"{key} cpu", "s", 0.5, "≤ 0.5 ×", at_least=False),
            compared(
                f"our client: upsert of {what}, against pyfluss on Apache Fluss",
                f"own {key} rate",
                "Mrow/s",
                2.0,
                "≥ 2 ×",
                peer=f"{key} rate",
            ),
            absolute(
                f"our client: upsert of {what}, over the wire",
                f"own {key} rate",
                "Mrow/s",
                0.5,
                "≥ 0.5 Mrow/s",
                at_least=True,
            ),
        ]
    return [
        *lines,
        absolute("lookups, 100,000 keys in one call", "lookups rate", "Mrow/s", 0.3, "≥ 0.3 Mrow/s", at_least=True),
        absolute("one lookup, p50", "lookup p50", "ms", 0.3, "< 0.3 ms"),
        absolute("changelog as Arrow", "changelog rate", "Mrow/s", 2.0, "≥ 2 Mrow/s", at_least=True),
        absolute("kill -9 with 1,000,000 keys, until rows are there again", "kv answered s", "s", 5, "< 5 s"),
        absolute("memory for each key beyond its row", "key bytes", "bytes", 40, "< 40 bytes"),
        *_large_lines(compare, figures),
    ]


def _large_lines(compare: _Compare, figures: dict[str, Figures]) -> list[Line]:
    if "kv large MB" not in figures["Lakeward"]:
        return []
    return [
        compare.absolute(
            "kill -9 with 10,000,000 keys, until rows are there again", "kv large answered s", "s", 30, "< 30 s"
        ),
        compare.absolute("the server's memory then, at its peak", "kv large MB", "MB", 1500, "–"),
    ]


def _lines(figures: dict[str, Figures]) -> list[Line]:
    compare = _Compare(figures)
    compared, absolute = compare.compared, compare.absolute
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
        absolute("our blocking client: one row acknowledged, p50", "own ack p50", "ms", 0.4, "< 0.4 ms"),
        compared("one row acknowledged, p99", "ack p99", "ms", 1.5, "≤ 1.5 ×", at_least=False),
        absolute("one row until a tailing scanner has it, p50", "tail p50", "ms", 3.0, "< 3 ms"),
        absolute(
            "raw append of 1 MB batches, share of the loopback's rate", "raw append", "×", 0.5, "≥ 0.5", at_least=True
        ),
        absolute(
            "raw fetch of 1 MB batches, share of the loopback's rate", "raw fetch", "×", 0.65, "≥ 0.65", at_least=True
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


def _notes(rows: int, keys: int) -> list[str]:
    return [
        f"{rows:,} rows of ten columns, about 92 bytes a row, 2 buckets, zstd, `acks=all`; pyfluss 1.0.0.",
        (
            f"Apache Fluss {apache_fluss.VERSION} from its published jar, one of each server, three JVMs, warmed up. "
            "It is started where Maven and Java are present; without them the page has our figures only."
        ),
        (
            f"{keys:,} rows by key: an int64 key and three values, 2 buckets. After kill -9 all state comes from the "
            "changelog, since no snapshot was taken; the time is from the start of the process to a count of all rows."
        ),
        "The server's CPU is user and system time of all its processes while the client worked.",
        (
            "Memory is touched once before the first round: on a virtual machine the first use of a page is up to ten "
            "times slower than the second, and would be charged to whoever comes first."
        ),
    ]


if __name__ == "__main__":
    main()
