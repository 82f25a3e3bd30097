"""A log in a directory, its slow work done at once, and batches to append."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator
from pathlib import Path

from raw_batches import raw_batch

from lakeward.records.batch.log_batch import cut_batches, walk_batches
from lakeward.runtime.files.local_files import LocalFiles
from lakeward.storage.disk.open_files import OpenFiles
from lakeward.storage.log.log_tablet import Later, LogTablet
from lakeward.storage.log.replica_log import ReplicaLog
from lakeward.storage.log.segment.damage import Damage
from lakeward.storage.log.settings import LogSettings
from lakeward.storage.log.writer_state import Verdict


def open_log(
    directory: Path,
    *,
    files: OpenFiles | None = None,
    checkpoints: bool = True,
    later: Later | None = None,
    known_end: int = 0,
    on_damage: Callable[[Damage], None] = lambda _: None,
    **numbers: int,
) -> ReplicaLog:
    """The log in a directory. Without checkpoints, work for the disk thread is lost, as in a crash."""
    settings = LogSettings(**{"index_interval_bytes": 64, **numbers})
    files = OpenFiles(LocalFiles(), 64) if files is None else files
    at_once: Later = (lambda job: job()) if checkpoints else (lambda _: None)
    log = ReplicaLog(directory, settings, files, later or at_once, known_end=known_end, on_damage=on_damage)
    weakref.finalize(log, files.close)  # a test may open hundreds of logs
    return log


def append(log: LogTablet, rows: int = 1, *, now_ms: int = 1000, body: bytes = b"row", **header: int) -> int:
    """Append one batch; returns its base offset."""
    return append_payload(log, raw_batch(rows, body, **header), now_ms=now_ms)


def append_payload(log: LogTablet, payload: bytearray, *, now_ms: int = 1000) -> int:
    """Append all batches of a payload, which the log must not object to."""
    spans = cut_batches(payload)
    verdict, _ = log.judge(spans)
    assert verdict is Verdict.NEXT
    return log.append(memoryview(payload), spans, now_ms)


def fill(log: LogTablet, batches: int, *, rows: int = 2, first_ms: int = 1000, step_ms: int = 10) -> None:
    """Append batches whose bodies tell them apart, one every few milliseconds."""
    for number in range(batches):
        append(log, rows, now_ms=first_ms + number * step_ms, body=f"batch {number:05d}".encode())


def contents(log: LogTablet, offset: int | None = None, bytes_max: int = 1 << 20) -> list[tuple[int, bytes]]:
    """Base offset and body of every batch from an offset on, read as a client would: piece by piece."""
    return list(_contents(log, log.start_offset if offset is None else offset, bytes_max))


def _contents(log: LogTablet, offset: int, bytes_max: int) -> Iterator[tuple[int, bytes]]:
    while offset < log.end_offset:
        read = log.read(offset, bytes_max, at_least_one=True)
        assert read.data, f"nothing at {offset} of {log.end_offset}"
        end = 0
        for span in walk_batches(read.data):
            yield span.header.base_offset, bytes(read.data[span.start + span.header.header_bytes : span.end])
            offset, end = span.header.last_offset + 1, span.end
        assert end == len(read.data), "a batch was cut"
        assert read.reaches_end == (offset == log.end_offset)
