"""The RocksDB engine: state larger than memory, by the library `rocksdict`.

RocksDB's own log is off, since the changelog is the log: what a crash leaves in the working directory belongs to no
known offset and is thrown away. Rows pass through Python one by one here; that is the price of this engine.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from heapq import merge
from itertools import islice
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from lakeward.errors import ErrorCode, LakewardError
from lakeward.runtime.files.local_files import LocalFiles
from lakeward.runtime.files.port import Files
from lakeward.runtime.files.whole_file import write_file
from lakeward.storage.kv.rocksdb.rocksdb_view import RocksDbView, rocksdb_failures
from lakeward.storage.kv.store.slices import Entries, Slices
from lakeward.storage.kv.store.snapshots import PendingSnapshot, Snapshot, new_staging
from lakeward.storage.kv.store.store import AppliedBatch

if TYPE_CHECKING:
    from rocksdict import Rdict

_log = logging.getLogger(__name__)
ENGINE = "rocksdb"
_MEMORY = ("rocksdb.cur-size-all-mem-tables", "rocksdb.block-cache-usage", "rocksdb.estimate-table-readers-mem")
_BLOOM_BITS = 10
#: Keys whose values are held before it is looked whether they are too much.
_KEYS_AT_ONCE = 64
_FORMAT_VERSION = 5
#: Files that RocksDB never changes once written, so a link is as good as a copy.
_IMMUTABLE = (".sst", ".blob")
#: Files that may wait to be merged. Each is as large as a write buffer, and all may hold the same rows.
_WAITING_FILES = 2
#: A write buffer is this share of the live rows, within limits: were it as large as they are, every file that waits to
#: be merged would hold them all once more.
_BUFFER_SHARE = 2
_BUFFER_BYTES_MIN = 256 << 10


@dataclass(frozen=True, slots=True)
class RocksDbSettings:
    """How much memory a bucket's RocksDB may take."""

    #: The most; a small state has smaller ones.
    write_buffer_bytes: int = 32 << 20
    block_cache_bytes: int = 32 << 20


def _library() -> Any:
    try:
        import rocksdict
    except ImportError:
        raise ErrorCode.UNSUPPORTED_VERSION.error(
            "The rocksdb engine needs a library that is not installed. Run `pip install lakeward[rocksdb]`, or use the "
            "hash engine."
        ) from None
    return rocksdict


class RocksDbStore:
    """The engine for state larger than memory. `directory` is its to wipe."""

    engine = ENGINE

    def __init__(self, directory: Path, settings: RocksDbSettings | None = None) -> None:
        self._rocksdict = _library()
        self._disk = LocalFiles()  # RocksDB opens its files itself
        self._directory = directory
        self._settings = settings or RocksDbSettings()
        self.row_count = 0
        self.live_bytes = 0
        self._sequence = 0
        self._settled = 0
        #: What batches that were taken back put right and RocksDB, its disk full, did not take yet. Reads go by it.
        self._owed: dict[bytes, bytes | None] = {}
        self._disk.remove_tree(directory)
        self._generation = 0
        self._buffer_bytes = _BUFFER_BYTES_MIN
        self._files = self._next_files()
        self._db = self._open(self._files)

    def _next_files(self) -> Path:
        """A directory nobody has used: a view that is still read holds on to the database of its time."""
        self._generation += 1
        files = self._directory / str(self._generation)
        self._disk.make_directory(files)
        return files

    def _open(self, files: Path) -> Rdict:
        library = self._rocksdict
        table = library.BlockBasedOptions()
        table.set_bloom_filter(_BLOOM_BITS, block_based=False)
        table.set_block_cache(library.Cache(self._settings.block_cache_bytes))
        # Readers of Apache Fluss open our snapshots with RocksDB 6.20, which knows neither later formats nor XXH3.
        table.set_format_version(_FORMAT_VERSION)
        table.set_checksum_type(library.ChecksumType.crc32c())
        options = library.Options(raw_mode=True)
        options.set_block_based_table_factory(table)
        options.set_write_buffer_size(self._buffer_bytes)
        options.set_arena_block_size(_BUFFER_BYTES_MIN // 8)
        options.set_max_write_buffer_number(3)
        options.set_level_zero_file_num_compaction_trigger(_WAITING_FILES)
        options.set_level_compaction_dynamic_level_bytes(True)
        options.set_max_background_jobs(2)
        options.set_keep_log_file_num(1)
        options.set_compression_type(library.DBCompressionType.lz4())
        with rocksdb_failures(files):
            return cast("Rdict", library.Rdict(str(files), options))

    @property
    def memory_bytes(self) -> int:
        """Bytes of write buffers, cached blocks and table indexes, as RocksDB counts them."""
        return sum(self._db.property_int_value(name) or 0 for name in _MEMORY)

    # -- write

    def apply(self, keys: Slices, values: Slices) -> AppliedBatch:
        """Put or delete (value start -1), strictly in order: a later record of a key sees what an earlier one wrote."""
        given = keys.for_kernels(optional=False).present()
        wanted = values.for_kernels(optional=True).to_list()
        if len(given) != len(wanted):
            raise ErrorCode.CORRUPT_RECORD.error(f"The batch has {len(given)} keys and {len(wanted)} values.")
        self._settle()
        before = self._lookup(list(dict.fromkeys(given)))
        current = before.copy()
        old: list[bytes | None] = []
        for key, value in zip(given, wanted, strict=True):
            old.append(current[key])
            current[key] = value
        self._replace(before, current)
        self._sequence += 1
        return AppliedBatch(Slices.of(old), values, (before, current), self._sequence)

    def _lookup(self, keys: list[bytes]) -> dict[bytes, bytes | None]:
        with rocksdb_failures(self._directory):
            return dict(zip(keys, cast("list[bytes | None]", self._db.get(cast("Any", keys))), strict=True))

    def _replace(self, before: Mapping[bytes, bytes | None], after: Mapping[bytes, bytes | None]) -> None:
        """Write what is different, at once."""
        self._write({key: after[key] for key, old in before.items() if old is not None or after[key] is not None})
        self._count(before, after)

    def _write(self, values: Mapping[bytes, bytes | None]) -> None:
        batch = self._rocksdict.WriteBatch(raw_mode=True)
        for key, value in values.items():
            if value is None:
                batch.delete(key)
            else:
                batch.put(key, value)
        without_log = self._rocksdict.WriteOptions()
        without_log.disable_wal = True
        with rocksdb_failures(self._directory):
            self._db.write(batch, without_log)

    def _count(self, before: Mapping[bytes, bytes | None], after: Mapping[bytes, bytes | None]) -> None:
        for sign, values in ((-1, before), (1, after)):
            sizes = [len(key) + len(value) for key, value in values.items() if value is not None]
            self.row_count += sign * len(sizes)
            self.live_bytes += sign * sum(sizes)

    def undo(self, applied: AppliedBatch) -> None:
        """Take a batch back, exactly. The last one first, and only those since the last `maintain`."""
        assert applied.sequence == self._sequence > self._settled, "batches are taken back last first, before maintain"
        before, after = applied.undo
        self._owed.update(before)
        self._count(after, before)
        self._sequence -= 1
        try:
            self._settle()
        except LakewardError as wrong:
            _log.warning("%s A batch that was taken back is remembered until it can be written.", wrong)

    def _settle(self) -> None:
        if self._owed:
            self._write(self._owed)
            self._owed.clear()

    def maintain(self) -> None:
        """The batches so far stay; RocksDB compacts by itself, in step with the size of the state."""
        self._settled = self._sequence
        wanted = self._wanted_buffer_bytes()
        if not self._buffer_bytes // 2 < wanted < self._buffer_bytes * 2:  # it takes a millisecond, so not every time
            self._buffer_bytes = wanted
            try:
                with rocksdb_failures(self._directory):
                    self._db.set_options({"write_buffer_size": str(wanted)})
            except LakewardError as wrong:  # a full disk: the batch is in the log already, and larger files do no harm
                _log.warning("%s The write buffers stay as they are.", wrong)

    def _wanted_buffer_bytes(self) -> int:
        return max(_BUFFER_BYTES_MIN, min(self.live_bytes // _BUFFER_SHARE, self._settings.write_buffer_bytes))

    # -- read

    def get(self, keys: Slices, bytes_max: int | None = None) -> Slices:
        """The values of keys; absent ones have a start of -1. OverflowError when they are larger than `bytes_max`."""
        given = keys.for_kernels(optional=False).present()
        found: list[bytes | None] = []
        left = bytes_max
        with rocksdb_failures(self._directory):
            for at in range(0, len(given), _KEYS_AT_ONCE):
                piece = cast("list[bytes | None]", self._db.get(cast("Any", given[at : at + _KEYS_AT_ONCE])))
                found += piece
                if left is not None:
                    left -= sum(map(len, filter(None, piece)))
                    if left < 0:
                        raise OverflowError(f"more than {bytes_max} bytes")
        if self._owed:
            found = [self._owed.get(key, value) for key, value in zip(given, found, strict=True)]
        return Slices.of(found)

    def scan(self, limit: int) -> Entries:
        """The first rows in key order."""
        with rocksdb_failures(self._directory):
            return Entries.of(islice(self._rows(), limit))

    def scan_prefix(self, prefix: bytes, rows_max: int | None = None, bytes_max: int | None = None) -> Entries:
        """All rows whose key begins so, in key order."""
        found: list[tuple[bytes, bytes]] = []
        size = 0
        with rocksdb_failures(self._directory):
            for key, value in self._rows(prefix):
                if not key.startswith(prefix):
                    break
                found.append((key, value))
                size += len(value)
                if (rows_max is not None and len(found) > rows_max) or (bytes_max is not None and size > bytes_max):
                    raise OverflowError(f"more than {rows_max} rows or {bytes_max} bytes")
        return Entries.of(found)

    def view(self) -> RocksDbView:
        """The state as it is now, to be read while writes go on."""
        # An iterator keeps to the state it began with. The library's Snapshot does not: its iterators see later writes.
        with rocksdb_failures(self._directory):
            return RocksDbView(self._rows(), self.row_count, self._directory)

    def _rows(self, first: bytes = b"") -> Iterator[tuple[bytes, bytes]]:
        rows = cast("Iterator[tuple[bytes, bytes]]", self._db.items(from_key=first) if first else self._db.items())
        return _overlay(rows, sorted((k, v) for k, v in self._owed.items() if k >= first)) if self._owed else rows

    def ordering(self) -> None:
        """Nothing: RocksDB keeps keys in order."""

    def growth(self) -> None:
        """Nothing: RocksDB grows by itself."""

    # -- snapshots

    def snapshot(self, disk: Files, directory: Path, log_offset: int, extra: Mapping[str, Any]) -> PendingSnapshot:
        """The state as it is now: buffers are flushed and files linked at once, the rest may happen on any thread."""
        self._settle()
        disk.make_directory(directory)
        staging = new_staging(disk, directory)
        pending = PendingSnapshot(
            disk=disk,
            directory=directory,
            staging=staging,
            engine=ENGINE,
            log_offset=log_offset,
            row_count=self.row_count,
            live_bytes=self.live_bytes,
            extra=extra,
            fill=_is_filled,
        )
        try:
            with rocksdb_failures(staging):
                self._rocksdict.Checkpoint(self._db).create_checkpoint(str(staging))
        except BaseException:
            pending.discard()
            raise
        return pending

    def restore(self, snapshot: Snapshot) -> None:
        """Replace the whole state by that of a snapshot that `newest_good_snapshot` has found good."""
        assert snapshot.engine == ENGINE, snapshot
        files = self._next_files()
        try:
            for name in snapshot.files:
                _bring(self._disk, snapshot.path / name, files / name)
            restored = self._open(files)
        except OSError as wrong:
            self._disk.remove_tree(files)
            raise ErrorCode.KV_STORAGE.error(f"{snapshot.path} could not be restored: {wrong.strerror}.") from wrong
        self._db.close()
        self._disk.remove_tree(self._files)
        self._db, self._files = restored, files
        self._owed.clear()
        self.row_count, self.live_bytes = snapshot.row_count, snapshot.live_bytes
        self._settled = self._sequence

    def close(self) -> None:
        """Close RocksDB and remove its working directory."""
        self._db.close()
        self._disk.remove_tree(self._directory)


def _overlay(
    rows: Iterator[tuple[bytes, bytes]], owed: Sequence[tuple[bytes, bytes | None]]
) -> Iterator[tuple[bytes, bytes]]:
    """Rows in key order, some of them replaced or left out."""
    last = None
    for key, value in merge(owed, rows, key=itemgetter(0)):  # of equal keys, the first one's comes first
        if key != last and value is not None:
            yield key, value
        last = key


def _is_filled(_staging: Path) -> None:
    """The checkpoint has put the files there already."""


def _bring(disk: Files, source: Path, target: Path) -> None:
    if source.suffix in _IMMUTABLE:
        try:
            disk.link(source, target)
            return
        except OSError:  # another file system, or one without links
            pass
    write_file(disk, target, (disk.read_bytes(source),), durable=False)
