"""Closed segments on their way: how fast they are copied, and what appends notice of it."""

from __future__ import annotations

import json
import time
import urllib.request
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import lakeward
from bench.remote.place import Place
from bench.remote.stores import put_rate
from bench.report import Line
from bench.rows import BATCH_ROWS, SCHEMA, batches
from bench.targets import Target, lakeward_again
from bench.targets import lakeward as start_lakeward

_ROWS, _BUCKETS, _ROUNDS = 2_000_000, 2, 5
_COPIED_ROWS = 6_000_000
_SEGMENTS = ("-D", "log.segment.file-size=64mb", "-D", "log.segment.delete-delay=0s")
_SMALL_SEGMENTS = ("-D", "log.segment.file-size=16mb", "-D", "log.segment.delete-delay=0s")
_OFF, _ON = (("-D", f"remote.log.task-interval-duration={interval}") for interval in ("0s", "100ms"))
_PLAIN = {"table.log.arrow.compression.type": "NONE"}
_PATIENCE_S = 180


def lines(places: Iterable[Place]) -> list[Line]:
    """Rates of copies and of appends, on every place."""
    return [line for place in places for line in (_copy(place.at("copies")), _appends(place.at("appends")))]


def _copy(place: Place) -> Line:
    """Segments that were closed while nothing was copied, copied all at once."""
    target = start_lakeward((*_SEGMENTS, *_OFF, *place.server_flags))
    try:
        _append(target, "copied", _COPIED_ROWS)
        segments = sorted((target.directory / "data" / "fluss").glob("copied-*/log-*/*.log"))
        closed = [path for path in segments if path != max(path.parent.glob("*.log"))]
        total = sum(path.stat().st_size for path in closed)
        alone = put_rate(place, _named_apart(closed, target.directory / "links"))
        for process in target.processes:
            process.terminate()
            process.wait(30)
        target = lakeward_again(target, (*_SEGMENTS, *_ON, *place.server_flags))
        rate = total / _copied_within_s(target, total)
    finally:
        target.stop()
    return Line(
        work=f"copy of {total / 1e6:.0f} MB in closed segments, {place.name}; beside it obstore alone, the same files",
        ours=f"{rate / 1e6:.0f} MB/s",
        theirs=f"{alone / 1e6:.0f} MB/s",
        promise="≥ 0.5 ×",
        ratio=rate / alone,
        limit=0.5,
    )


def _named_apart(files: list[Path], directory: Path) -> list[Path]:
    """The same files by names that no two of them share."""
    directory.mkdir()
    links = [directory / f"{number:03d}" for number in range(len(files))]
    for link, file in zip(links, files, strict=True):
        link.hardlink_to(file)
    return links


def _copied_within_s(target: Target, total: int) -> float:
    """Seconds between the first sign of work and the last byte."""
    give_up = time.monotonic() + _PATIENCE_S
    begun: float | None = None
    status: dict[str, Any] = {}
    while time.monotonic() < give_up:
        status = _status(target)
        if begun is None and status["buckets_waiting"]:
            begun = time.perf_counter()
        if status["copied_bytes"] >= total:
            return time.perf_counter() - (begun or 0.0)
        time.sleep(0.01)
    raise RuntimeError(f"only {status['copied_bytes']} of {total} bytes were copied: {status}")


def _status(target: Target) -> dict[str, Any]:
    with urllib.request.urlopen(f"http://{target.bootstrap}/remote", timeout=10) as answer:
        document: dict[str, Any] = json.load(answer)
    return document


def _appends(place: Place) -> Line:
    """The same appends to a server that copies all the time and to one that copies nothing, by turns."""
    copying = start_lakeward((*_SMALL_SEGMENTS, *_ON, *place.server_flags))
    alone = start_lakeward(_SMALL_SEGMENTS)
    try:
        rates = [(_append(copying, f"a{n}", _ROWS), _append(alone, f"a{n}", _ROWS)) for n in range(_ROUNDS)]
        copied = _status(copying)["copied_segments"]
    finally:
        copying.stop()
        alone.stop()
    ours, theirs = (max(column) for column in zip(*rates, strict=True))
    return Line(
        work=f"appends while {copied} segments of 16 MB are copied, {place.name}; beside it a server without copies",
        ours=f"{ours / 1e6:.2f} Mrow/s",
        theirs=f"{theirs / 1e6:.2f} Mrow/s",
        promise="≥ 0.85 ×",
        ratio=ours / theirs,
        limit=0.85,
    )


def _append(target: Target, name: str, rows: int) -> float:
    """Rows a second."""
    with lakeward.connect(target.bootstrap) as connection:
        table = connection.create_table(f"fluss.{name}", SCHEMA, buckets=_BUCKETS, properties=_PLAIN)
        begun = time.perf_counter()
        table.append(batches(rows // BATCH_ROWS))
        return rows / (time.perf_counter() - begun)
