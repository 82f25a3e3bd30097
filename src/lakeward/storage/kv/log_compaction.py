"""Key-based compaction of a changelog: closed segments keep the last change of each key.

Offsets stay covered without a gap. Of a batch that loses rows, the rows that stay move to its end, so that a row's
offset only grows and a reader that goes on from anywhere misses none; the offsets before them become an empty batch.
Deletes stay, since somebody may have seen the row they delete.

All of this reads files that do not change any more and writes new ones beside them: it runs on any thread.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from lakeward.errors import ErrorCode
from lakeward.records.batch.batch_header import BatchHeader, write_header
from lakeward.records.batch.changelog_batch import ChangelogRows, changelog_rows
from lakeward.records.batch.log_batch import BatchSpan, seal, stamp, walk_batches
from lakeward.records.columnar.row_kernels import RowForm
from lakeward.runtime.files.port import Bytes, Files
from lakeward.runtime.files.whole_file import write_file
from lakeward.storage.kv.changes import Changes, changelog_batch, values_of_rows
from lakeward.storage.kv.hash.hash_store import HashStore
from lakeward.storage.kv.kv_table import KvTable
from lakeward.storage.kv.store.slices import I64, Slices
from lakeward.storage.log.log_tablet import ClosedSegment
from lakeward.storage.log.segment.batch_check import good_prefix

COMPACTED_SUFFIX = ".compacted.tmp"
_NO_OFFSETS: I64 = np.empty(0, np.int64)


class CompactedSegment(NamedTuple):
    """A segment and the file that may take its place."""

    segment: ClosedSegment
    path: Path
    size: int


def compact(
    disk: Files, segments: list[ClosedSegment], table: KvTable, cleanable_ratio_min: float
) -> list[CompactedSegment]:
    """Write smaller files for the segments, if enough of their rows have been overtaken by later ones."""
    newest = HashStore()
    total = 0
    for segment in segments:
        for _, rows, offsets in _changes(disk, segment, table):
            if rows is None:
                continue
            newest.apply(_keys(rows), _as_values(offsets))
            newest.maintain()
            total += len(offsets)
    if not total or 1 - newest.row_count / total < cleanable_ratio_min:
        return []
    return [made for segment in segments if (made := _rewrite(disk, segment, table, newest)) is not None]


def _rewrite(disk: Files, segment: ClosedSegment, table: KvTable, newest: HashStore) -> CompactedSegment | None:
    path = segment.path.with_name(segment.path.name + COMPACTED_SUFFIX)
    write_file(disk, path, _compact(disk, segment, table, newest), mode=0o644)
    size = disk.facts(path).size
    if size >= segment.size:
        disk.unlink(path)
        return None
    return CompactedSegment(segment, path, size)


def _compact(disk: Files, segment: ClosedSegment, table: KvTable, newest: HashStore) -> Iterator[Bytes]:
    """The batches that stay, and those that cover the offsets of the others."""
    covered = segment.base_offset
    for span, rows, offsets in _changes(disk, segment, table):
        if rows is None:  # offsets that somebody gave up stay told
            if covered < span.header.base_offset:
                yield _filler(covered, span.header.base_offset, span.header)
            yield write_header(span.header)
            covered = span.header.last_offset + 1
            continue
        last = newest.get(_keys(rows))
        kept = np.flatnonzero(_of_values(last) == offsets)
        if not len(kept):
            continue
        end = span.header.last_offset + 1
        if covered < end - len(kept):
            yield _filler(covered, end - len(kept), span.header)
        yield _batch(table, rows, kept, end - len(kept), span.header)
        covered = end
    if covered < segment.end_offset:
        yield _filler(covered, segment.end_offset, None, segment.time_ms_max)


def _changes(
    disk: Files, segment: ClosedSegment, table: KvTable
) -> Iterator[tuple[BatchSpan, ChangelogRows | None, I64]]:
    """Every batch of a segment with its rows and their offsets; without rows, those that were given up."""
    data = memoryview(disk.read_bytes(segment.path))
    size, end, _ = good_prefix(data, segment.base_offset)
    if size < len(data) or end != segment.end_offset:
        raise ErrorCode.CORRUPT_RECORD.error(f"{segment.path} is damaged behind offset {end} and is not compacted.")
    for span in walk_batches(data):
        if not span.header.record_count:
            if span.header.given_up:
                yield span, None, _NO_OFFSETS
            continue
        schema = table.schema(span.header.schema_id)
        rows = changelog_rows(
            data[span.start : span.end],
            [column.type for column in schema.columns],
            table.key_positions,
            log_format=table.log_format,
            form=RowForm(table.kv_format),
            key_encoding=table.key_encoding,
        )
        yield span, rows, span.header.base_offset + np.arange(span.header.record_count, dtype=np.int64)


def _keys(rows: ChangelogRows) -> Slices:
    return Slices(*rows.keys.in_one_buffer())


def _as_values(offsets: I64) -> Slices:
    """Offsets as values of eight bytes."""
    bounds = np.arange(len(offsets) + 1, dtype=np.int64) * 8
    return Slices(np.ascontiguousarray(offsets).view(np.uint8), bounds[:-1], bounds[1:])


def _of_values(values: Slices) -> I64:
    """Values of eight bytes as offsets; all of them are there."""
    picked = values.buffer[values.starts[:, None] + np.arange(8)]
    return np.ascontiguousarray(picked).view(np.int64).reshape(-1)


def _batch(table: KvTable, rows: ChangelogRows, kept: np.ndarray, base_offset: int, header: BatchHeader) -> bytearray:
    buffer, starts, ends = rows.rows.take(kept).in_one_buffer()
    values = values_of_rows(buffer, starts, ends, header.schema_id)
    changes = Changes.of(rows.change_types[kept], values)
    batch = changelog_batch(table, changes, -1, -1)
    stamp(batch, 0, base_offset, header.commit_timestamp_ms)
    return batch


def _filler(start: int, end: int, header: BatchHeader | None, time_ms: int = 0) -> bytearray:
    """A batch without rows that covers some offsets."""
    schema_id = 1 if header is None else header.schema_id
    time_ms = time_ms if header is None else header.commit_timestamp_ms
    batch = bytearray(write_header(BatchHeader(0, 0, 0, 0, 0, schema_id, 0, end - start - 1, -1, -1, 0)))
    seal(batch)
    stamp(batch, 0, start, time_ms)
    return batch
