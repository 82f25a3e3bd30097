"""A server that lost its disk: how long until everything can be asked for again."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterable

import lakeward
from bench.remote.place import Place
from bench.report import Line
from bench.rows import BATCH_ROWS, SCHEMA, batches
from bench.targets import Target, lakeward_again
from bench.targets import lakeward as start_lakeward

_LOG_ROWS, _KEYS, _BUCKETS = 4_000_000, 1_000_000, 2
_FLAGS = ("-D", "remote.log.sync=1s", "-D", "remote.log.task-interval-duration=500ms", "-D", "kv.snapshot.interval=10s")
_PATIENCE_S = 180
_LIMIT_S = 60


def lines(places: Iterable[Place]) -> list[Line]:
    """On every place."""
    return [_line(place) for place in places]


def _line(place: Place) -> Line:
    target = start_lakeward((*_FLAGS, *place.server_flags))
    try:
        _fill(target)
        _wait_until_copied(target, place)
        for process in target.processes:
            process.kill()
        shutil.rmtree(target.directory / "data")
        restore_s, answers_s = _restored(target, place)
    finally:
        target.stop()
    spent = restore_s + answers_s
    return Line(
        work=f"restore of {_KEYS / 1e6:.0f} M keys and {_LOG_ROWS / 1e6:.0f} M log rows, {place.name}",
        ours=f"{spent:.1f} s",
        theirs=f"{restore_s:.1f} s of it `lakeward restore`, the rest until a lookup and a scan are answered",
        promise=f"≤ {_LIMIT_S} s",
        ratio=spent,
        limit=_LIMIT_S,
        at_least=False,
    )


def _fill(target: Target) -> None:
    with lakeward.connect(target.bootstrap) as connection:
        log = connection.create_table("fluss.log", SCHEMA, buckets=_BUCKETS)
        log.append(batches(_LOG_ROWS // BATCH_ROWS))
        columns = "id BIGINT, amount DOUBLE, name STRING"
        state = connection.create_table("fluss.state", columns, primary_key=["id"], buckets=_BUCKETS)
        with state.upserter() as upserter:
            for first in range(0, _KEYS, BATCH_ROWS):
                ids = range(first, first + BATCH_ROWS)
                upserter.upsert({"id": list(ids), "amount": [i / 2 for i in ids], "name": [f"row {i}" for i in ids]})


def _wait_until_copied(target: Target, place: Place) -> None:
    import obstore

    store, written_ms = place.obstore(), time.time_ns() // 1_000_000

    def is_copied() -> bool:
        if _metric(target, "lakeward_remote_snapshots_waiting"):
            return False
        alive = json.loads(bytes(obstore.get(store, "lakeward/alive.json").bytes()))
        return alive["at_ms"] > written_ms and not alive["ends"]

    _wait(lambda: _metric(target, "lakeward_remote_snapshots_total") >= _BUCKETS, target)
    _wait(is_copied, target)
    _wait(lambda: not _metric(target, "lakeward_remote_metadata_behind"), target)


def _wait(holds: Callable[[], bool], target: Target) -> None:
    give_up = time.monotonic() + _PATIENCE_S
    while not holds():
        if time.monotonic() > give_up:
            raise RuntimeError(f"copies take too long: {(target.directory / 'log').read_text()[-2000:]}")
        time.sleep(0.2)


def _metric(target: Target, name: str) -> float:
    with urllib.request.urlopen(f"http://{target.bootstrap}/metrics") as answer:
        found = [line for line in answer.read().decode().splitlines() if line.split(" ")[0] == name]
    return float(found[0].rsplit(" ", 1)[1])


def _restored(target: Target, place: Place) -> tuple[float, float]:
    """Seconds that the restore took, and those until the server has answered."""
    begun = time.perf_counter()
    data = target.directory / "data"
    settings = [part for key, value in place.settings.items() for part in ("-D", f"{key}={value}")]
    command = [sys.executable, "-m", "lakeward", "restore", "--from", place.url, "--data-dir", str(data)]
    subprocess.run([*command, "--take-over", *settings], check=True, capture_output=True)
    restored = time.perf_counter()
    again = lakeward_again(target, (*_FLAGS, *place.server_flags))
    target.processes[:] = again.processes
    with lakeward.connect(again.bootstrap) as connection:
        wanted = [0, _KEYS // 2, _KEYS - 1]
        found = connection.table("fluss.state").lookup(wanted)["name"].to_pylist()
        rows = sum(connection.table("fluss.log").offsets("latest").values())
        first = len(connection.table("fluss.log").scan(limit=10).to_arrow())
        answered = time.perf_counter()
        count = connection.table("fluss.state").count()
    if found != [f"row {i}" for i in wanted] or (rows, first, count) != (_LOG_ROWS, 10, _KEYS):
        raise RuntimeError(f"not everything came back: {found}, {rows} log rows, {count} keys")
    return restored - begun, answered - restored
