"""`lakeward serve --tablets N` beside one process: the bare protocol, by one client and by four.

python -m bench.server.tablets [MEGABYTES]      prints rates, their ratio within one run, and CPU seconds a GB

Clients are processes, each with a bucket of its own. Where they share the cores with the servers, the ratio says
little: CPU seconds a GB tell what more cores would do, since tablet servers share nothing.
"""

from __future__ import annotations

import contextlib
import os
import statistics
import sys
import time
from collections.abc import Callable
from multiprocessing import get_context
from typing import Any

import psutil

from bench.server.raw_work import RAW_TABLE, RawClient, append_all, append_frame, create, fetch_all
from bench.targets import Target, lakeward
from lakeward.protocol.api import Api
from lakeward.protocol.messages.metadata import MetadataRequest
from lakeward.protocol.messages.table import DropTableRequest

_ROUNDS = 3
_BUCKETS = 4
_TABLETS = 2


def _leaders(target: Target) -> tuple[int, dict[int, str]]:
    """A new table, and where each of its buckets is."""
    client = RawClient(target)
    table_id = create(client, _BUCKETS)
    answer = client.ask(Api.GET_METADATA, MetadataRequest(table_path=(RAW_TABLE,)))
    client.close()
    nodes = {one.node_id: f"{one.host}:{one.port}" for one in answer.tablet_servers}
    return table_id, {one.bucket_id: nodes[one.leader_id] for one in answer.table_metadata[0].bucket_metadata}


def _work(what: str, table_id: int, bucket_id: int, address: str, megabytes: int, gate: Any, done: Any) -> None:
    """One client, beginning with the others."""
    client = RawClient(address)
    frame = append_frame(table_id, bucket_id=bucket_id)
    count = (megabytes << 20) // len(frame)
    gate.wait()
    begun = time.perf_counter()
    if what == "append":
        append_all(client, frame, count)
    else:
        fetch_all(client, table_id, count, bucket_id)
    done.put((begun, time.perf_counter(), count * len(frame)))


def _rate(what: str, table_id: int, leaders: dict[int, str], clients: int, megabytes: int) -> float:
    """Bytes a second of all clients together."""
    context = get_context("fork")
    gate, done = context.Barrier(clients), context.Queue()
    workers = [
        context.Process(target=_work, args=(what, table_id, bucket, leaders[bucket], megabytes // clients, gate, done))
        for bucket in range(clients)
    ]
    for worker in workers:
        worker.start()
    ends = [done.get() for _ in workers]
    for worker in workers:
        worker.join()
    first, last = min(end[0] for end in ends), max(end[1] for end in ends)
    return float(sum(end[2] for end in ends) / (last - first))


def _measure(target: Target, clients: int, megabytes: int) -> dict[str, tuple[float, float]]:
    """Rates, and CPU seconds of all server processes a GB, of appends and fetches."""
    table_id, leaders = _leaders(target)
    found = {}
    for what in ("append", "fetch"):
        before = target.cpu_s()
        rate = _rate(what, table_id, leaders, clients, megabytes)
        found[what] = (rate, (target.cpu_s() - before) / (megabytes / 1024))
    client = RawClient(target)
    client.ask(Api.DROP_TABLE, DropTableRequest(table_path=RAW_TABLE, ignore_if_not_exists=True))
    client.close()
    return found


def _start(options: tuple[str, ...]) -> Target:
    target = lakeward(options)
    with contextlib.suppress(psutil.NoSuchProcess):
        target.processes += [
            one for one in target.processes[0].children(recursive=True) if "tablet_process" in " ".join(one.cmdline())
        ]
    return target


def main(say: Callable[[str], None] = print) -> None:
    """Measure both in turn."""
    megabytes = int(sys.argv[1]) if len(sys.argv) > 1 else 400
    targets = {"one process": _start(()), f"--tablets {_TABLETS}": _start(("--tablets", str(_TABLETS)))}
    try:
        say(f"{os.cpu_count()} cores for servers and clients; {megabytes} MB each, median of {_ROUNDS}")
        for target in targets.values():
            _measure(target, 4, 200)  # memory that is touched for the first time is slow
        for clients in (1, 4):
            runs: dict[str, list[dict[str, tuple[float, float]]]] = {name: [] for name in targets}
            for _ in range(_ROUNDS):
                for name, target in targets.items():
                    runs[name].append(_measure(target, clients, megabytes))
            for what in ("append", "fetch"):
                rates = {name: statistics.median(run[what][0] for run in found) for name, found in runs.items()}
                costs = {name: statistics.median(run[what][1] for run in found) for name, found in runs.items()}
                alone, several = rates.values()
                shown = ", ".join(f"{name} {rates[name] / 1e6:.0f} MB/s {costs[name]:.2f} CPU s/GB" for name in rates)
                say(f"{what}, {clients} client{'s' * (clients > 1)}: {shown}; ratio {several / alone:.2f}")
    finally:
        for target in targets.values():
            target.stop()


if __name__ == "__main__":
    main()
