"""The state of one bucket of a primary key table, and the log that says how it came about.

A put looks up the old values, decides the changes, appends them to the log as one changelog batch, and is then
answered. The changelog is the write-ahead log: state is a snapshot plus what the log has since.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

from lakeward.errors import CorruptError, ErrorCode
from lakeward.model.table import TablePath
from lakeward.options import table as rows
from lakeward.records.batch.batch_header import read_header
from lakeward.records.batch.kv_batch import KvBatch, parse_kv_batch
from lakeward.records.batch.log_batch import BatchSpan
from lakeward.storage.disk.open_files import storage_error
from lakeward.storage.kv.auto_increment import AutoIncrement, Reserve
from lakeward.storage.kv.changes import changelog_batch, changes_of, values_of_rows
from lakeward.storage.kv.key_checks import check_keys
from lakeward.storage.kv.kv_table import KvTable
from lakeward.storage.kv.log_compaction import CompactedSegment, compact
from lakeward.storage.kv.merge.merge_engines import merger_for
from lakeward.storage.kv.merge.row_merger import Deletes, deletes_for, deletion_error
from lakeward.storage.kv.merging import merge_rows
from lakeward.storage.kv.missing_rows import batch_of_missing
from lakeward.storage.kv.recovery import Recovery
from lakeward.storage.kv.store.slices import Entries, Slices
from lakeward.storage.kv.store.snapshots import KEPT, PendingSnapshot, Snapshot, stored_snapshots
from lakeward.storage.kv.store.store import AppliedBatch, KvView
from lakeward.storage.log.log_tablet import Later, LogTablet

_log = logging.getLogger(__name__)


class PreparedPut(NamedTuple):
    """A put that is in the state and not yet in the log."""

    applied: AppliedBatch
    changelog: bytearray


class KvTablet:
    """Rows by key, and their changelog."""

    def __init__(
        self,
        directory: Path,
        log: LogTablet,
        table: Callable[[], KvTable],
        recovered: Recovery,
        later: Later,
        reserve: Reserve,
        on_snapshot: Callable[[Snapshot], None] = lambda _: None,
    ) -> None:
        """`recovered` has run to its end; `on_snapshot` is told of every snapshot, on the thread that wrote it."""
        self.directory = directory
        self.log = log
        self._table = table
        self._later = later
        self._reserve = reserve
        self._on_snapshot = on_snapshot
        self._store = recovered.store
        self._snapshot_offset = recovered.snapshot_offset
        self._snapshot_under_way = False
        self._compacted_offset = 0
        self._ids: AutoIncrement | None = None

    @property
    def path(self) -> TablePath:
        """The table it belongs to."""
        return self._table().info.path

    # -- writing

    def check(self, batch: KvBatch, bucket: int) -> None:
        """Refuse a batch whose keys are not those of its rows and of this bucket."""
        check_keys(self._table(), batch, bucket)

    def decides_by_row(self, target_columns: tuple[int, ...]) -> bool:
        """Whether the rows of a put are looked at one by one, which takes far longer than to replace them."""
        table = self._table()
        return bool(target_columns) or table.merges or table.kv_format != "COMPACTED"

    def put(self, batch: KvBatch, target_columns: tuple[int, ...], now_ms: int, *, overwrite: bool = False) -> int:
        """Apply a batch, all of it or nothing; returns the offset behind its last change."""
        end = self.keep(self.prepare(batch, target_columns, overwrite=overwrite), now_ms)
        self.maintain()
        return end

    def hold_ids(self, count: int) -> None:
        """Have numbers for so many rows, so that `prepare` asks nobody for more."""
        table = self._table()
        if table.info.schema.auto_increment:
            self._numbers(table).hold(count)

    def prepare(self, batch: KvBatch, target_columns: tuple[int, ...], *, overwrite: bool = False) -> PreparedPut:
        """Apply a batch to the state and lay out its changes, on any thread; it has happened when `keep` returns."""
        table = self._table()
        table.schema(batch.schema_id)
        numbers = self._numbers(table) if table.info.schema.auto_increment else None
        merger = merger_for(
            table.info,
            table.schema,
            target_columns=target_columns or None,
            overwrite=overwrite,
            next_id=None if numbers is None else numbers.take,
        )
        if merger is not None:
            keys, values, changes = merge_rows(table, self._store, batch, merger, numbers)
            applied = self._store.apply(keys, values)
        else:
            keys, values = self._plain(table, batch, deletes_for(table.info, overwrite=overwrite))
            applied = self._store.apply(keys, values)
            is_blind = table.image == "WAL"
            changes = changes_of(applied.old, applied.new, full_image=not is_blind, plain_updates=is_blind)
        try:
            return PreparedPut(applied, changelog_batch(table, changes, batch.writer_id, batch.batch_sequence))
        except BaseException:
            self._store.undo(applied)
            raise

    def keep(self, put: PreparedPut, now_ms: int) -> int:
        """Append the changes to the log; if that fails, the state is as it was. The offset behind the last one."""
        data = put.changelog
        try:
            self.log.append(memoryview(data), [BatchSpan(0, len(data), read_header(data))], now_ms)
        except BaseException:
            self._store.undo(put.applied)
            raise
        return self.log.end_offset

    def drop(self, put: PreparedPut) -> None:
        """Take back what will not be kept."""
        self._store.undo(put.applied)

    def maintain(self) -> None:
        """Do the housekeeping that the last puts have made due, on any thread."""
        self._store.maintain()

    def batch_of_missing(self, keys: Slices, partition_values: Sequence[str]) -> KvBatch | None:
        """Rows with nothing but their key, for each key that has none; to be put with `key_columns`."""
        batch = batch_of_missing(self._table(), keys, self._store.get(keys), partition_values)
        return None if batch is None else parse_kv_batch(batch)

    @property
    def key_columns(self) -> tuple[int, ...]:
        """Where the columns of the primary key stand."""
        schema = self._table().info.schema
        return tuple(schema.positions[name] for name in schema.primary_key)

    @staticmethod
    def _plain(table: KvTable, batch: KvBatch, deletes: Deletes) -> tuple[Slices, Slices]:
        """Keys and values of a batch whose rows simply replace what was there."""
        wanted = np.arange(batch.record_count)
        if deletes is not Deletes.ALLOW:
            is_delete = batch.row_starts < 0
            if deletes is Deletes.DISABLE and bool(is_delete.any()):
                raise deletion_error(table.info.path)
            wanted = np.flatnonzero(~is_delete)
        keys = Slices(batch.data, batch.key_starts[wanted], batch.key_ends[wanted])
        return keys, values_of_rows(batch.data, batch.row_starts[wanted], batch.row_ends[wanted], batch.schema_id)

    def _numbers(self, table: KvTable) -> AutoIncrement:
        """Numbers for the table's auto-increment column. After a restart a new segment is taken."""
        if self._ids is None:
            self._ids = AutoIncrement(table.info, self._reserve)
        return self._ids

    # -- reading

    @property
    def row_count(self) -> int:
        """How many rows there are."""
        return self._store.row_count

    @property
    def live_bytes(self) -> int:
        """Bytes of all keys and values."""
        return self._store.live_bytes

    def get(self, keys: Slices, bytes_max: int | None = None) -> Slices:
        """The stored values of keys; OverflowError when they are larger than `bytes_max`."""
        return self._store.get(keys, bytes_max)

    def scan(self, limit: int) -> Entries:
        """The first rows in key order."""
        return self._store.scan(limit)

    def scan_prefix(self, prefix: bytes, rows_max: int | None = None, bytes_max: int | None = None) -> Entries:
        """All rows whose key begins so, in key order; see `KvStore`."""
        return self._store.scan_prefix(prefix, rows_max, bytes_max)

    def view(self) -> KvView:
        """The state as it is now, to be read while writes go on."""
        return self._store.view()

    def ordering(self) -> Callable[[], None] | None:
        """Long work that the next `scan_prefix` would have to do first, on any thread; None when there is none."""
        return self._store.ordering()

    def growth(self) -> Callable[[], None] | None:
        """Long work that one of the next puts would have to do first, on any thread; None when there is none."""
        return self._store.growth()

    # -- keeping

    @property
    def retained_offset(self) -> int:
        """The log must keep everything from here on: the older of the snapshots that are kept may be needed.

        As long as there is only one it may turn out to be damaged, and the whole log is needed.
        """
        offsets = [s.log_offset for s in stored_snapshots(self.log.disk, self.directory)]
        return min(offsets) if len(offsets) >= KEPT else 0

    @property
    def snapshot_offset(self) -> int:
        """Up to where the newest snapshot holds the changes."""
        return self._snapshot_offset

    @property
    def snapshot_is_due(self) -> bool:
        """Whether the state has changed since the last snapshot."""
        return not self._snapshot_under_way and self.log.end_offset != self._snapshot_offset

    def snapshot(self) -> None:
        """Have the state written, soon and elsewhere, if it has changed."""
        if self.snapshot_is_due:
            self.write_snapshot(self.begin_snapshot()())

    def begin_snapshot(self) -> Callable[[], PendingSnapshot]:
        """Get ready; returns what takes hold of the state, on any thread but before the next write."""
        offset = self.log.end_offset
        try:
            self.log.disk.make_directory(self.directory)
        except OSError as wrong:
            raise storage_error(self.directory, wrong) from wrong
        self.log.checkpoint()  # runs before the snapshot is written: a snapshot never knows more than the log on disk
        return partial(self._store.snapshot, self.log.disk, self.directory, offset, {})

    def write_snapshot(
        self, pending: PendingSnapshot, told: Callable[[], AbstractContextManager[object]] = nullcontext
    ) -> None:
        """Have it written, soon and elsewhere. One that fails stays due; `told` is where its error may be caught."""
        self._snapshot_under_way = True

        def write() -> None:
            try:
                with told():
                    if not self.log.is_on_disk(pending.log_offset):
                        pending.discard()
                        raise ErrorCode.KV_STORAGE.error(f"The log of {self.directory} could not be synced before.")
                    written = pending.write()
                    self._snapshot_offset = pending.log_offset
                    self._on_snapshot(written)
            finally:
                self._snapshot_under_way = False

        self._later(write)

    def compact_log(
        self, on_loop: Callable[[Callable[[], None]], object], told: Callable[[int], None] = lambda _: None
    ) -> None:
        """Have closed segments of the changelog rewritten, elsewhere; they are exchanged on the loop's own thread.
        `told` hears there how many bytes that has freed."""
        table = self._table()
        segments = self.log.closed_segments()
        if not table.compacts_log or not segments or segments[-1].end_offset <= self._compacted_offset:
            return
        self._compacted_offset = segments[-1].end_offset
        ratio = rows.LOG_COMPACTION_RATIO.read(table.info.descriptor.properties)

        def exchange(made: list[CompactedSegment]) -> None:
            for one in made:
                self.log.replace_segment(one.segment, one.path)
            if made:
                told(sum(one.segment.size - one.size for one in made))

        def work() -> None:
            try:
                made = compact(self.log.disk, segments, table, ratio)
            except CorruptError as wrong:
                _log.error("%s: %s", self.log.name, wrong)
                return
            on_loop(lambda: exchange(made))

        self._later(work)

    def close(self) -> None:
        """Let go of memory and files. The log keeps what is needed to come back."""
        self._store.close()
