"""Scans that start in remote history, beside the same scans of a table whose log is all on the server's disk."""

from __future__ import annotations

import time
from collections.abc import Iterable
from pathlib import Path

import lakeward
from bench.remote.place import Place
from bench.report import Line
from bench.rows import BATCH_ROWS, SCHEMA, batches
from bench.targets import Target
from bench.targets import lakeward as start_lakeward

_ROWS, _BUCKETS, _ROUNDS = 4_000_000, 2, 3
_FLAGS = ("-D", "log.segment.file-size=32mb", "-D", "remote.log.task-interval-duration=500ms")
_LEAVES_S = 120
_FEW = ["id", "amount"]
_HEAD_ROWS = 10


def lines(places: Iterable[Place]) -> list[Line]:
    """Whole rows, two columns, and a few rows, on every place."""
    return [line for place in places for line in _lines(place)]


def _lines(place: Place) -> list[Line]:
    target = start_lakeward((*_FLAGS, "-D", "log.segment.delete-delay=0s", *place.server_flags))
    try:
        _write(target, "remote", local_segments=1)
        _write(target, "local", local_segments=1000)
        _wait_until_remote(target)
        is_directory = not place.settings
        return [
            _rates(target, place, "all columns", None, 0.5 if is_directory else None),
            _rates(target, place, "2 of 10 columns", _FEW, 0.8 if is_directory else 0.5),
            _head(target, place),
        ]
    finally:
        target.stop()


def _write(target: Target, name: str, local_segments: int) -> None:
    properties = {"table.log.tiered.local-segments": str(local_segments)}
    with lakeward.connect(target.bootstrap) as connection:
        table = connection.create_table(f"fluss.{name}", SCHEMA, buckets=_BUCKETS, properties=properties)
        table.append(batches(_ROWS // BATCH_ROWS))


def _wait_until_remote(target: Target) -> None:
    give_up = time.monotonic() + _LEAVES_S
    while len(_local_segments(target, "remote")) > _BUCKETS:
        if time.monotonic() > give_up:
            raise RuntimeError(f"segments stay where they are: {(target.directory / 'log').read_text()[-2000:]}")
        time.sleep(0.1)


def _local_segments(target: Target, name: str) -> list[Path]:
    return list((target.directory / "data" / "fluss").glob(f"{name}-*/log-*/*.log"))


def _rates(target: Target, place: Place, what: str, columns: list[str] | None, promised: float | None) -> Line:
    remote = local = 0.0
    for _ in range(_ROUNDS):
        remote = max(remote, _scan(target, "remote", columns))
        local = max(local, _scan(target, "local", columns))
    return Line(
        work=f"scan of remote history, {what}, {place.name}",
        ours=f"{remote / 1e6:.2f} Mrow/s",
        theirs=f"{local / 1e6:.2f} Mrow/s from the server's disk",
        promise="none" if promised is None else f"≥ {promised} ×",
        ratio=remote / local,
        limit=promised or 0.0,
    )


def _scan(target: Target, name: str, columns: list[str] | None) -> float:
    """Rows a second; each scan has a connection of its own, so that nothing was got before."""
    with lakeward.connect(target.bootstrap) as connection:
        table = connection.table(f"fluss.{name}")
        table.scan(start="latest").to_arrow()  # opens the connections
        begun = time.perf_counter()
        got = sum(batch.num_rows for batch in table.scan(columns).batches())
        spent = time.perf_counter() - begun
    if got != _ROWS:
        raise RuntimeError(f"{got} rows of {_ROWS} came from {name}")
    return got / spent


def _head(target: Target, place: Place) -> Line:
    remote, local = (min(_head_s(target, name) for _ in range(_ROUNDS)) for name in ("remote", "local"))
    return Line(
        work=f"first {_HEAD_ROWS} rows of remote history, {place.name}",
        ours=f"{remote * 1e3:.0f} ms",
        theirs=f"{local * 1e3:.0f} ms from the server's disk",
        promise="none",
        ratio=remote / local,
        limit=float("inf"),
        at_least=False,
    )


def _head_s(target: Target, name: str) -> float:
    with lakeward.connect(target.bootstrap) as connection:
        table = connection.table(f"fluss.{name}")
        table.scan(start="latest").to_arrow()
        begun = time.perf_counter()
        table.scan(limit=_HEAD_ROWS).to_arrow()
        return time.perf_counter() - begun
