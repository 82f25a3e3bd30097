"""The RocksDB engine's own: what it takes on disk, and what it says of files it cannot use."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from eventually import eventually
from kv_rows import apply_to, fixed_values, read_all, rows_of, varint_keys

from lakeward.errors import ErrorCode, LakewardError
from lakeward.runtime.files.local_files import LocalFiles
from lakeward.storage.kv.rocksdb.rocksdb_store import RocksDbSettings, RocksDbStore
from lakeward.storage.kv.store.slices import Slices


def file_bytes(directory: Path) -> int:
    """What RocksDB's tables take; they come and go on its own threads."""
    sizes = []
    for file in directory.rglob("*.sst"):
        try:
            sizes.append(file.stat().st_size)
        except FileNotFoundError:
            continue
    return sum(sizes)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[RocksDbStore]:
    """One whose write buffers may be larger than all its rows."""
    made = RocksDbStore(tmp_path / "work", RocksDbSettings(write_buffer_bytes=8 << 20))
    yield made
    made.close()


def test_overwritten_files_stay_small(store: RocksDbStore, tmp_path: Path) -> None:
    """Ten full overwrites of rows that would fit into one write buffer: files stay under 2.5 times the live rows."""
    order = np.random.default_rng(7)
    numbers = np.arange(12_000)
    for turn in range(11):
        for part in np.array_split(order.permutation(numbers), 6):
            store.apply(varint_keys(part), fixed_values(len(part), 250, turn))
            store.maintain()
        assert eventually(lambda: file_bytes(tmp_path) < 2.5 * store.live_bytes), turn
    assert store.row_count == len(numbers)
    assert file_bytes(tmp_path) > 0


def test_deleted_rows_leave_the_files(store: RocksDbStore, tmp_path: Path) -> None:
    """Rows that are written and deleted again and again leave nothing that grows."""
    keys = varint_keys(np.arange(12_000))
    absent = np.full(12_000, -1)
    for turn in range(6):
        store.apply(keys, fixed_values(12_000, 250, turn))
        store.maintain()
        store.apply(keys, Slices(keys.buffer, absent, absent))
        store.maintain()
    assert (store.row_count, store.live_bytes) == (0, 0)
    assert eventually(lambda: file_bytes(tmp_path) < 2.5 * 12_000 * 252)


class FullDisk:
    """A database that takes no writes for the time being."""

    def __init__(self, inner: Any) -> None:
        self.inner = inner

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)

    def write(self, *_: object) -> None:
        """Refuse, as RocksDB does."""
        raise OSError("IO error: No space left on device")

    set_options = write


def test_a_batch_is_taken_back_on_a_full_disk_too(store: RocksDbStore, tmp_path: Path) -> None:
    """RocksDB refuses to write the old rows; reads see them all the same, and they are written when it can."""
    rows = [(b"a", b"1"), (b"b", b"2"), (b"c", b"3")]
    apply_to(store, rows)
    store.maintain()
    applied = apply_to(store, [(b"b", None), (b"a", b"new"), (b"bb", b"new")])
    database: Any = store._db
    store._db = FullDisk(database)  # type: ignore[assignment]
    store.undo(applied)
    assert rows_of(store) == rows
    assert store.get(Slices.of([b"a", b"b", b"bb", b"c"])).to_list() == [b"1", b"2", None, b"3"]
    assert store.scan_prefix(b"b").to_list() == [(b"b", b"2")]
    assert read_all(store.view(), 1 << 20) == rows
    assert (store.row_count, store.live_bytes) == (3, 6)
    for refused in (
        lambda: apply_to(store, [(b"d", b"4")]),
        lambda: store.snapshot(LocalFiles(), tmp_path / "s", 1, {}),
    ):
        with pytest.raises(LakewardError, match="No space left"):
            refused()
    store._db = database
    apply_to(store, [(b"d", b"4")])
    assert rows_of(store) == [*rows, (b"d", b"4")]
    store.restore(store.snapshot(LocalFiles(), tmp_path / "s", 1, {}).write())
    assert rows_of(store) == [*rows, (b"d", b"4")]


def test_buffers_that_cannot_be_changed_are_no_failure(store: RocksDbStore) -> None:
    """The batch is in the log when the engine tidies up, so nothing may go wrong any more."""
    keys = varint_keys(np.arange(20_000))
    store.apply(keys, fixed_values(20_000, 250, 1))
    database: Any = store._db
    store._db = FullDisk(database)  # type: ignore[assignment]
    store.maintain()
    store._db = database
    assert store.row_count == 20_000


def test_a_new_store_wipes_what_a_crash_left(tmp_path: Path) -> None:
    """The working directory belongs to no known offset after a crash, so it is emptied."""
    (tmp_path / "work" / "1").mkdir(parents=True)
    (tmp_path / "work" / "1" / "CURRENT").write_text("of another life")
    store = RocksDbStore(tmp_path / "work")
    assert rows_of(store) == []
    store.close()
    assert not (tmp_path / "work").exists()


def test_a_restored_store_goes_on_by_itself(store: RocksDbStore, tmp_path: Path) -> None:
    """What is written after a restore does not reach the snapshot, although they share files."""
    apply_to(store, [(b"a", b"1"), (b"b", b"2")])
    snapshot = store.snapshot(LocalFiles(), tmp_path / "s", 2, {}).write()
    apply_to(store, [(b"a", b"3")])
    store.restore(snapshot)
    apply_to(store, [(b"b", None), (b"c", b"4")])
    store.maintain()
    assert rows_of(store) == [(b"a", b"1"), (b"c", b"4")]
    store.restore(snapshot)
    assert rows_of(store) == [(b"a", b"1"), (b"b", b"2")]
    assert (store.row_count, store.live_bytes) == (2, 4)


def test_a_snapshot_without_its_files_is_refused(store: RocksDbStore, tmp_path: Path) -> None:
    """The error names the snapshot, and the state stays as it was."""
    apply_to(store, [(b"a", b"1")])
    snapshot = store.snapshot(LocalFiles(), tmp_path / "s", 1, {}).write()
    next(snapshot.path.glob("*.sst")).unlink()
    apply_to(store, [(b"a", b"2")])
    with pytest.raises(LakewardError, match=r"snapshot-0000000001 could not be restored") as raised:
        store.restore(snapshot)
    assert raised.value.code is ErrorCode.KV_STORAGE
    assert rows_of(store) == [(b"a", b"2")]
