"""`python -m bench.server.fairness [--only NAME] [--rounds N] [--no-write]`: every attack with a pinger beside it;
writes docs/benchmarks-fairness.md."""

from __future__ import annotations

import argparse
import contextlib
import datetime as dt
import multiprocessing
import platform
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from bench.report import FAIRNESS_PAGE
from bench.targets import Target, lakeward

sys.path.append(str(Path(__file__).parents[2] / "tests" / "support"))
import attacks
import large_work
from arrow_batches import ids_batch
from wire_client import HELLO, WireCluster
from wire_tables import WireTable

from lakeward.protocol.api import Api

_PAUSE_S = 0.010
_HOLD_S = 5.0
_PROMISED_MS = 50.0

#: What pings waited at most for the writes that were done on the loop.
_SEEN = {
    "append, rows one by one (INDEXED)": "0.44 s",
    "upsert, a kilobyte a row": "0.63 s",
    "upsert, INDEXED": "0.19 s",
    "upsert, the first row stays": "0.14 s",
    "upsert, the larger version wins": "0.92 s",
    "upsert, sums": "1.6 s",
    "upsert, some columns": "1.0 s",
    "upsert, numbered rows": "1.3 s",
}
#: Each attack with what was seen before it was mended.
_ATTACKS: dict[str, tuple[Callable[[str, float], Any], str]] = {
    "nothing beside it": (lambda *_: time.sleep(_HOLD_S), ""),
    "a LOOKUP of a 1 MB key, 2,000 times": (attacks.repeated_lookup, "2 GB answer, 4.2 GB RSS, all blocked 38 s"),
    "8 connections, 1.4 million tiny requests": (attacks.tiny_requests, "new clients wait 3–25 s"),
    "GET_METADATA of 4,096 buckets, 1,500 times": (attacks.metadata_flood, "42 KB of requests: 14.8 s"),
    "LIST_OFFSETS of 29,000 and 200,000 ids": (attacks.many_offsets, "2.5 s"),
    "10,000 fetches that wait for one bucket": (attacks.parked_fetches, "append p50 1.1 → 514 ms"),
    "8 abandoned cursors": (attacks.abandoned_cursors, "the bucket blocked for minutes"),
    "12 unfinished frames of 95 MB": (attacks.unfinished_frames, "1.2 GB RSS"),
    "5,000 idle connections": (attacks.idle_connections, "resets and hangs beyond 1,024"),
    "requests whose answers nobody reads": (attacks.unread_flood, "SIGTERM not obeyed for 60 s"),
    "prefixes that match everything": (attacks.every_prefix, "–"),
    "LIMIT_SCAN without a limit": (attacks.huge_limit, "–"),
    "FETCH_LOG of 4,096, 10,000 and 100,000 buckets": (attacks.wide_fetches, "–"),
    "PRODUCE_LOG to 4,096 buckets": (attacks.tiny_batches, "–"),
    "PRODUCE_LOG of 100 MB of zeros in a few KB": (attacks.packed_zeros, "–"),
    "GET_METADATA of unknown tables": (attacks.unknown_tables, "–"),
    "INIT_WRITER, 400,000 times": (attacks.new_writers, "–"),
    "CREATE_TABLE, 1,000 times": (attacks.new_tables, "–"),
    "GET /metrics, 2,000 times": (attacks.metrics_flood, "–"),
    "500 HTTP requests without an end": (attacks.slow_headers, "–"),
} | {f"50,000 rows: {name}": (work, _SEEN.get(name, "–")) for name, work in large_work.WORKS.items()}


@dataclass(frozen=True)
class Measured:
    """Milliseconds of the pings and the appends, and the most memory in megabytes."""

    pings: list[float]
    appends: list[float]
    memory_mb: float

    @property
    def p99(self) -> float:
        """Of the pings."""
        return _share(self.pings, 0.99)


def _share(values: list[float], share: float) -> float:
    return sorted(values)[min(len(values) - 1, int(len(values) * share))]


def _ping(bootstrap: str, stop: Any, found: Any) -> None:
    pings, appends = [], []
    with WireCluster.of(bootstrap) as cluster:
        table = WireTable.find(cluster, attacks.path("plain"))
        batch = bytes(ids_batch([1]))
        while not stop.is_set():
            for ask, times in (
                (lambda: cluster.coordinator.call(Api.API_VERSIONS, HELLO), pings),
                (lambda: table.append(batch), appends),
            ):
                begun = time.perf_counter()
                ask()
                times.append((time.perf_counter() - begun) * 1000)
            time.sleep(_PAUSE_S)
    found.put((pings, appends))


def _attack(name: str, bootstrap: str) -> None:
    attack = _ATTACKS[name][0]
    end = time.monotonic() + _HOLD_S
    while time.monotonic() < end:
        outcome = attack(bootstrap, 1.0)
        if isinstance(outcome, contextlib.AbstractContextManager):
            with outcome:
                time.sleep(_HOLD_S)


def measure(target: Target, name: str) -> Measured:
    """One attack, a pinger beside it, each in a process of its own."""
    stop, found = multiprocessing.Event(), multiprocessing.Queue()
    pinger = multiprocessing.Process(target=_ping, args=(target.bootstrap, stop, found))
    pinger.start()
    time.sleep(0.3)
    attacker = multiprocessing.Process(target=_attack, args=(name, target.bootstrap))
    attacker.start()
    peak = 0.0
    end = time.monotonic() + 60
    while attacker.is_alive() and time.monotonic() < end:
        peak = max(peak, target.memory_mb())
        time.sleep(0.05)
    attacker.kill()
    stop.set()
    pings, appends = found.get(timeout=60)
    pinger.join(10)
    return Measured(pings, appends, peak)


def _stop_s(name: str) -> float:
    """Seconds from SIGTERM to the end while an attack goes on."""
    target = lakeward()
    attacks.prepare(target.bootstrap)
    attacker = multiprocessing.Process(target=_attack, args=(name, target.bootstrap))
    attacker.start()
    time.sleep(3)
    begun = time.monotonic()
    target.processes[0].send_signal(signal.SIGTERM)
    psutil.wait_procs(target.processes, timeout=60)
    spent = time.monotonic() - begun
    attacker.kill()
    target.stop()
    return spent


def _page(results: dict[str, Measured], stops: dict[str, float], rounds: int) -> str:
    machine = f"{psutil.cpu_count()} cores, Python {platform.python_version()}"
    head = [
        "# Benchmarks: no client harms another",
        "",
        f"`python -m bench.server.fairness`, {dt.date.today():%Y-%m-%d}, {machine}, load {psutil.getloadavg()[1]:.0f}.",
        "Attacker, pinger and server share the machine, with other work where the load is above its cores.",
        f"A pinger asks for the API versions and appends a row every 10 ms; each line is the best of {rounds} rounds.",
        f"Promised: a p99 of the pings under {_PROMISED_MS:.0f} ms.",
        "",
        "| beside it | ping p50 | p99 | | max, ms | append p50 | p99, ms | RSS, MB | seen before |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    body = [
        f"| {name} | {_share(m.pings, 0.5):.1f} | {m.p99:.1f} | {'✓' if m.p99 < _PROMISED_MS else '✗'} |"
        f" {max(m.pings):.0f} | {_share(m.appends, 0.5):.1f} | {_share(m.appends, 0.99):.1f} | {m.memory_mb:.0f} |"
        f" {_ATTACKS[name][1]} |"
        for name, m in results.items()
    ]
    tail = [f"- SIGTERM beside “{name}”: ended after {spent:.1f} s (promised: 10 s)." for name, spent in stops.items()]
    return "\n".join([*head, *body, "", *tail, ""])


def main() -> None:
    """Run, print, write."""
    parser = argparse.ArgumentParser(prog="bench.server.fairness", description=__doc__)
    parser.add_argument("--only", help="attacks whose name has this in it")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--no-write", action="store_true", help="leave docs/benchmarks-fairness.md as it is")
    arguments = parser.parse_args()
    results: dict[str, Measured] = {}
    for name in _ATTACKS:
        if arguments.only and arguments.only not in name:
            continue
        for _ in range(arguments.rounds):
            target = lakeward()
            try:
                attacks.prepare(target.bootstrap)
                found = measure(target, name)
            finally:
                target.stop()
            if name not in results or found.p99 < results[name].p99:
                results[name] = found
        print(f"{name}: p99 {results[name].p99:.1f} ms, {results[name].memory_mb:.0f} MB", flush=True)
    stops = {}
    if not arguments.only:
        names = ("8 connections, 1.4 million tiny requests", "requests whose answers nobody reads")
        stops = {name: _stop_s(name) for name in names}
    page = _page(results, stops, arguments.rounds)
    print(page)
    if not (arguments.no_write or arguments.only):
        FAIRNESS_PAGE.write_text(page)


if __name__ == "__main__":
    main()
