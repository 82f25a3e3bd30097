"""The RocksDB engine: state larger than memory, by the library `rocksdict`.

RocksDB's own log is off, since the changelog is the log: what a crash leaves in the working directory belongs to no
known offset and is thrown away. Rows pass through Python one by one here; that is the price of this engine.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from lakeward.errors import ErrorCode
from lakeward.storage.kv.rocksdb_view import RocksDbView, rocksdb_failures
from lakeward.storage.kv.slices import Entries, Slices
from lakeward.storage.kv.snapshots import PendingSnapshot, Snapshot, new_staging
from lakeward.storage.kv.store import Applied

if TYPE_CHECKING:
    from rocksdict import Rdict

ENGINE = "rocksdb"
_MEMORY = ("rocksdb.cur-size-all-mem-tables", "rocksdb.block-cache-usage", "rocksdb.estimate-table-readers-mem")
_BLOOM_BITS = 10
#: Files that RocksDB never changes once written, so a link is as good as a copy.
_IMMUTABLE = (".sst", ".blob")


@dataclass(frozen=True, slots=True)
class RocksDbSettings:
    """How much memory a bucket's RocksDB may take."""

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
        self._directory = directory
        self._settings = settings or RocksDbSettings()
        self.row_count = 0
        self.live_bytes = 0
        self._sequence = 0
        self._settled = 0
        shutil.rmtree(directory, ignore_errors=True)
        self._generation = 0
        self._files = self._next_files()
        self._db = self._open(self._files)

    def _next_files(self) -> Path:
        """A directory nobody has used: a view that is still read holds on to the database of its time."""
        self._generation += 1
        files = self._directory / str(self._generation)
        files.mkdir(parents=True)
        return files

    def _open(self, files: Path) -> Rdict:
        library = self._rocksdict
        table = library.BlockBasedOptions()
        table.set_bloom_filter(_BLOOM_BITS, block_based=False)
        table.set_block_cache(library.Cache(self._settings.block_cache_bytes))
        options = library.Options(raw_mode=True)
        options.set_block_based_table_factory(table)
        options.set_write_buffer_size(self._settings.write_buffer_bytes)
        options.set_max_write_buffer_number(3)
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

    def apply(self, keys: Slices, values: Slices) -> Applied:
        """Put or delete (value start -1), strictly in order: a later record of a key sees what an earlier one wrote."""
        given = keys.for_kernels(optional=False).present()
        wanted = values.for_kernels(optional=True).to_list()
        if len(given) != len(wanted):
            raise ErrorCode.CORRUPT_RECORD.error(f"The batch has {len(given)} keys and {len(wanted)} values.")
        before = self._lookup(list(dict.fromkeys(given)))
        current = before.copy()
        old: list[bytes | None] = []
        for key, value in zip(given, wanted, strict=True):
            old.append(current[key])
            current[key] = value
        self._replace(before, current)
        self._sequence += 1
        return Applied(Slices.of(old), values, (before, current), self._sequence)

    def _lookup(self, keys: list[bytes]) -> dict[bytes, bytes | None]:
        with rocksdb_failures(self._directory):
            return dict(zip(keys, cast("list[bytes | None]", self._db.get(cast("Any", keys))), strict=True))

    def _replace(self, before: Mapping[bytes, bytes | None], after: Mapping[bytes, bytes | None]) -> None:
        """Write what is different, at once."""
        batch = self._rocksdict.WriteBatch(raw_mode=True)
        rows = row_bytes = 0
        for key, old in before.items():
            new = after[key]
            if new is not None:
                batch.put(key, new)
                rows += 1
                row_bytes += len(key) + len(new)
            elif old is not None:
                batch.delete(key)
            if old is not None:
                rows -= 1
                row_bytes -= len(key) + len(old)
        without_log = self._rocksdict.WriteOptions()
        without_log.disable_wal = True
        with rocksdb_failures(self._directory):
            self._db.write(batch, without_log)
        self.row_count += rows
        self.live_bytes += row_bytes

    def undo(self, applied: Applied) -> None:
        """Take a batch back, exactly. The last one first, and only those since the last `maintain`."""
        assert applied.sequence == self._sequence > self._settled, "batches are taken back last first, before maintain"
        before, after = applied.undo
        self._replace(after, before)
        self._sequence -= 1

    def maintain(self) -> None:
        """The batches so far stay; RocksDB compacts by itself."""
        self._settled = self._sequence

    # -- read

    def get(self, keys: Slices) -> Slices:
        """The values of keys; absent ones have a start of -1."""
        given = keys.for_kernels(optional=False).present()
        with rocksdb_failures(self._directory):
            return Slices.of(cast("list[bytes | None]", self._db.get(cast("Any", given))))

    def scan(self, limit: int) -> Entries:
        """The first rows in key order."""
        with rocksdb_failures(self._directory):
            return Entries.of(cast("Iterator[tuple[bytes, bytes]]", islice(self._db.items(), limit)))

    def scan_prefix(self, prefix: bytes) -> Entries:
        """All rows whose key begins so, in key order."""
        found: list[tuple[bytes, bytes]] = []
        with rocksdb_failures(self._directory):
            for key, value in cast("Iterator[tuple[bytes, bytes]]", self._db.items(from_key=prefix)):
                if not key.startswith(prefix):
                    break
                found.append((key, value))
        return Entries.of(found)

    def view(self) -> RocksDbView:
        """The state as it is now, to be read while writes go on."""
        # An iterator keeps to the state it began with. The library's Snapshot does not: its iterators see later writes.
        with rocksdb_failures(self._directory):
            return RocksDbView(cast("Iterator[tuple[bytes, bytes]]", self._db.items()), self.row_count, self._directory)

    # -- snapshots

    def snapshot(self, directory: Path, log_offset: int, extra: Mapping[str, Any]) -> PendingSnapshot:
        """The state as it is now: buffers are flushed and files linked at once, the rest may happen on any thread."""
        directory.mkdir(parents=True, exist_ok=True)
        staging = new_staging(directory)
        pending = PendingSnapshot(
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
                _bring(snapshot.path / name, files / name)
            restored = self._open(files)
        except OSError as wrong:
            shutil.rmtree(files, ignore_errors=True)
            raise ErrorCode.KV_STORAGE.error(f"{snapshot.path} could not be restored: {wrong.strerror}.") from wrong
        self._db.close()
        shutil.rmtree(self._files, ignore_errors=True)
        self._db, self._files = restored, files
        self.row_count, self.live_bytes = snapshot.row_count, snapshot.live_bytes
        self._settled = self._sequence

    def close(self) -> None:
        """Close RocksDB and remove its working directory."""
        self._db.close()
        shutil.rmtree(self._directory, ignore_errors=True)


def _is_filled(_staging: Path) -> None:
    """The checkpoint has put the files there already."""


def _bring(source: Path, target: Path) -> None:
    if source.suffix in _IMMUTABLE:
        try:
            os.link(source, target)
            return
        except OSError:  # another file system, or one without links
            pass
    shutil.copyfile(source, target)
