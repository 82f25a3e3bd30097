"""LakeSnapshots: which snapshots the lake has of each table, as tiering services reported them.

A list per table in the metadata store, oldest first; each entry names the files that hold its offsets. The file is on
disk before the entry, and goes after it, so a crash leaves at worst a file that nobody names.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lakeward.errors import ErrorCode, LakewardError
from lakeward.model.bucket import TableBucket
from lakeward.model.table import TableInfo
from lakeward.server.books.bucket_offsets import BucketOffsets
from lakeward.server.books.offsets_files import OffsetsFiles
from lakeward.server.metadata_store.port import Document, MetadataStore

_log = logging.getLogger(__name__)
AREA = "lake-snapshots"
VERSION = 2
#: A file that was prepared and never committed may still be named by the lake; after a day nobody comes back to it.
_UNUSED_FILE_MS = 86_400_000


@dataclass(frozen=True, slots=True)
class SnapshotEntry:
    """A snapshot of the lake in the books. What is `readable` may be less than what is `tiered`, or not be known."""

    snapshot_id: int
    tiered_path: str
    readable_path: str | None
    committed_ms: int


class LakeSnapshots:
    """The snapshots of all tables."""

    def __init__(self, store: MetadataStore, files: OffsetsFiles) -> None:
        self._store = store
        self._files = files
        self._of_table = {int(d.key): _of_text(d.text) for d in store.documents(AREA)}
        self._tiered: dict[int, dict[TableBucket, int]] = {}
        self._unreadable: set[int] = set()
        self.committed_count = 0
        self._listeners: list[Callable[[TableInfo, SnapshotEntry, Mapping[TableBucket, int]], None]] = []

    def subscribe(self, listener: Callable[[TableInfo, SnapshotEntry, Mapping[TableBucket, int]], None]) -> None:
        """Hear of every commit that counts from now on: how far the lake is."""
        self._listeners.append(listener)

    # -- reading

    def latest(self, table: TableInfo) -> SnapshotEntry | None:
        """The last one reported."""
        found = self._of_table.get(table.table_id)
        return found[-1] if found else None

    def find(self, table: TableInfo, snapshot_id: int | None, *, readable: bool) -> SnapshotEntry:
        """The one with an id, the newest that is readable, or the latest; LAKE_SNAPSHOT_NOT_EXIST."""
        for snapshot in reversed(self._of_table.get(table.table_id, ())):
            if snapshot_id is not None and snapshot.snapshot_id != snapshot_id:
                continue
            if not readable or snapshot.readable_path is not None:
                return snapshot
        which = "" if snapshot_id is None else f", snapshot id: {snapshot_id}"
        raise ErrorCode.LAKE_SNAPSHOT_NOT_EXIST.error(
            f"Lake table snapshot doesn't exist for table: {table.path}, table id: {table.table_id}{which}"
        )

    def offsets(self, table: TableInfo, snapshot: SnapshotEntry, *, readable: bool = False) -> dict[TableBucket, int]:
        """The offsets up to which a snapshot holds each bucket."""
        path = snapshot.readable_path if readable else snapshot.tiered_path
        assert path is not None
        return self._files.read(table, path)

    def tiered_offsets(self, table: TableInfo) -> dict[TableBucket, int]:
        """Up to where the lake has each bucket; buckets of which nothing is known are not there."""
        known = self._tiered.get(table.table_id)
        if known is None:
            latest = self.latest(table)
            known = {} if latest is None else self.offsets(table, latest)
            self._tiered[table.table_id] = known
        return known

    def tiered_offset(self, table: TableInfo, bucket: TableBucket) -> int:
        """Up to where the lake has a bucket: 0 when nothing is known, so that all of the log is kept."""
        try:
            return self.tiered_offsets(table).get(bucket, 0)
        except LakewardError as wrong:
            if table.table_id not in self._unreadable:
                self._unreadable.add(table.table_id)  # said once, not for every bucket at every check
                _log.error("table %s: its log is kept whole. %s", table.path, wrong)
            return 0

    # -- changing

    def paths(self) -> Iterator[Path]:
        """The offsets files of all snapshots that are known."""
        for snapshots in self._of_table.values():
            yield from map(Path, _paths(snapshots))

    def prepare(self, table: TableInfo, before: BucketOffsets, offsets: BucketOffsets) -> str:
        """Write offsets over the earlier ones to a new file and return its path; nothing is visible yet."""
        return self._files.write(table, {**before, **offsets})

    def commit(self, table: TableInfo, snapshot: SnapshotEntry, keep_from_id: int | None) -> None:
        """Remember a snapshot. Without `keep_from_id` all others are forgotten, else those before that one."""
        for path in {snapshot.tiered_path, snapshot.readable_path or snapshot.tiered_path}:
            self._files.check_own(table, path)
        tiered = self._files.read(table, snapshot.tiered_path)
        if snapshot.readable_path not in {None, snapshot.tiered_path}:
            self.offsets(table, snapshot, readable=True)
        before = self._of_table.get(table.table_id, ())
        kept = _with(before, snapshot, keep_from_id)
        with self._store.change() as change:
            change.put_document(Document(AREA, str(table.table_id), _to_text(kept)))
        self._of_table[table.table_id] = kept
        if kept[-1] == snapshot:
            self._tiered[table.table_id] = tiered
            for listener in self._listeners:
                listener(table, snapshot, tiered)
        self.committed_count += 1
        self._tidy(table, before, kept, snapshot.committed_ms)

    def _tidy(
        self, table: TableInfo, before: Sequence[SnapshotEntry], kept: Sequence[SnapshotEntry], now_ms: int
    ) -> None:
        named = _paths(kept)
        try:
            self._files.delete(table, _paths(before) - named)
            self._files.sweep(table, named, now_ms - _UNUSED_FILE_MS)
        except OSError as wrong:
            _log.warning("table %s: offsets files that are not needed stay behind: %s", table.path, wrong)

    def forget(self, table: TableInfo) -> None:
        """A table is gone; the lake keeps what it has, the server nothing about it."""
        self._of_table.pop(table.table_id, None)
        self._tiered.pop(table.table_id, None)
        with self._store.change() as change:
            change.delete_document(AREA, str(table.table_id))
        self._files.remove(table)

    def forget_all_but(self, table_ids: set[int]) -> None:
        """Forget what a crash left of tables that are gone."""
        gone = self._of_table.keys() - table_ids
        if gone:
            with self._store.change() as change:
                for table_id in gone:
                    change.delete_document(AREA, str(table_id))
        for table_id in gone:
            del self._of_table[table_id]


def _with(
    before: Sequence[SnapshotEntry], snapshot: SnapshotEntry, keep_from_id: int | None
) -> tuple[SnapshotEntry, ...]:
    """The list after a commit. Ids need not grow: places count. One that is there already keeps its place."""
    if keep_from_id is None:
        return (snapshot,)
    ids = [one.snapshot_id for one in before]
    kept = list(before[ids.index(keep_from_id) :]) if keep_from_id in ids else list(before)
    for place, one in enumerate(kept):
        if one.snapshot_id == snapshot.snapshot_id:
            kept[place] = snapshot
            return tuple(kept)
    return (*kept, snapshot)


def _paths(snapshots: Sequence[SnapshotEntry]) -> set[str]:
    return {path for one in snapshots for path in (one.tiered_path, one.readable_path) if path is not None}


def offsets_paths(text: str) -> set[str]:
    """The offsets files that a table's document names."""
    return _paths(_of_text(text))


def _to_text(snapshots: Sequence[SnapshotEntry]) -> str:
    return json.dumps({"version": VERSION, "lake_snapshots": [_to_node(one) for one in snapshots]})


def _to_node(snapshot: SnapshotEntry) -> dict[str, Any]:
    node: dict[str, Any] = {"snapshot_id": snapshot.snapshot_id, "tiered_offsets": snapshot.tiered_path}
    if snapshot.readable_path is not None:
        node["readable_offsets"] = snapshot.readable_path
    return {**node, "committed_ms": snapshot.committed_ms}


def _of_text(text: str) -> tuple[SnapshotEntry, ...]:
    return tuple(
        SnapshotEntry(one["snapshot_id"], one["tiered_offsets"], one.get("readable_offsets"), one["committed_ms"])
        for one in json.loads(text)["lake_snapshots"]
    )
