"""The engines by name; a server loads the libraries of those it uses."""

from __future__ import annotations

from pathlib import Path

from lakeward.errors import ErrorCode
from lakeward.runtime.files.port import Files
from lakeward.storage.kv.rocksdb.rocksdb_store import RocksDbStore
from lakeward.storage.kv.store.slices import Entries
from lakeward.storage.kv.store.snapshots import Snapshot
from lakeward.storage.kv.store.store import KvStore

HASH = "hash"
ROCKSDB = "rocksdb"
ENGINES = (HASH, ROCKSDB)
_CARRY_BYTES = 4 << 20


def open_store(engine: str, directory: Path) -> KvStore:
    """An empty store. `directory` is where the engine may keep working files, which do not outlive it."""
    match engine:
        case "hash":
            from lakeward.storage.kv.hash.hash_store import HashStore

            return HashStore()
        case "rocksdb":
            return RocksDbStore(directory)
        case _:
            known = ", ".join(ENGINES)
            raise ErrorCode.INVALID_CONFIG.error(f"There is no key/value engine {engine!r}; there are: {known}.")


def prepare(disk: Files, engine: str, directory: Path) -> None:
    """Load an engine's library and compile its loops, which takes seconds once per machine. On any thread.

    Does with a small store whatever stores do, so that no request has to wait for the compiler.
    """
    store = open_store(engine, directory / "work")
    rows = Entries.of([(b"a", b"1"), (b"b", b"2")])
    store.undo(store.apply(rows.keys, rows.values))
    store.apply(rows.keys, rows.values)
    store.get(rows.keys)
    store.view().read(1)
    store.scan_prefix(b"")
    for turn in range(12):  # overwrites here and there, so that something live is left wherever something is cleaned up
        more = Entries.of([(b"%d" % i, bytes(1000)) for i in range(100) if i * turn % 11 < 6])
        store.apply(more.keys, more.values)
        store.maintain()
    store.scan_prefix(b"")
    store.restore(store.snapshot(disk, directory / "snapshots", 0, {}).write())
    store.close()
    disk.remove_tree(directory)


def as_rocksdb(snapshot: Snapshot) -> Snapshot:
    """A snapshot of any engine written once more as one of RocksDB, in a directory of its own beside its files."""
    if snapshot.engine == ROCKSDB:
        return snapshot
    directory = snapshot.path / ROCKSDB
    snapshot.disk.remove_tree(directory)
    store = open_store(ROCKSDB, directory / "work")
    try:
        restore_any(store, snapshot, directory)
        return store.snapshot(snapshot.disk, directory, snapshot.log_offset, snapshot.extra).write()
    finally:
        store.close()


def restore_any(store: KvStore, snapshot: Snapshot, directory: Path) -> None:
    """Restore an empty store from a snapshot of any engine; `directory` is for working files, as for `open_store`."""
    if snapshot.engine == store.engine:
        store.restore(snapshot)
        return
    other = open_store(snapshot.engine, directory)
    try:
        other.restore(snapshot)
        rows = other.view()
        while len(batch := rows.read(_CARRY_BYTES)):
            store.apply(batch.keys, batch.values)
            store.maintain()
        rows.close()
    finally:
        other.close()
