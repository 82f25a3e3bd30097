"""What only the hash engine has: its index, its value log, its cleaning."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from kv_rows import apply_to, fixed_values, rows_of, varint_keys

from lakeward.errors import ErrorCode, LakewardError
from lakeward.runtime.files.local_files import LocalFiles
from lakeward.storage.kv.hash import value_log
from lakeward.storage.kv.hash.entry_kernels import HASH_BITS
from lakeward.storage.kv.hash.hash_kernels import hash_keys
from lakeward.storage.kv.hash.hash_store import HashStore
from lakeward.storage.kv.store.slices import I64, Slices


def hashes_of(keys: Slices) -> I64:
    """The engine's hashes."""
    hashes = np.empty(len(keys), np.int64)
    given = keys.for_kernels(optional=False)
    hash_keys(given.buffer.ctypes.data, given.starts, given.ends, hashes)
    return hashes


def sequences() -> dict[str, Slices]:
    """Keys as they come in life: one after the other, and far from random."""
    count = 1 << 16
    numbers = np.arange(count)
    return {
        "varints": varint_keys(numbers),
        "varints in steps": varint_keys(numbers * 128),
        "fixed, little-endian": Slices(numbers.astype("<i8").view(np.uint8), numbers * 8, numbers * 8 + 8),
        "fixed, big-endian": Slices(numbers.astype(">i8").view(np.uint8), numbers * 8, numbers * 8 + 8),
        "text": Slices.of(b"customer-%09d" % i for i in range(count)),
        "zeros": Slices.of(bytes(i % 512) + b"%d" % (i // 512) for i in range(count)),
    }


@pytest.mark.parametrize("kind", sequences())
def test_hashes_spread_as_random_numbers_do(kind: str) -> None:
    """Keys in a row fill the slots no worse than chance: for as many slots as keys, 1/e of them stay empty."""
    hashes = hashes_of(sequences()[kind])
    assert hashes.min() >= 0
    assert hashes.max() < 1 << HASH_BITS
    homes = np.bincount(hashes >> (HASH_BITS - 16), minlength=1 << 16)
    assert abs(np.count_nonzero(homes == 0) / len(homes) - 1 / np.e) < 0.01
    assert homes.max() < 14
    low_bits = np.bincount(hashes & 0xFFFF, minlength=1 << 16)
    assert low_bits.max() < 14


def test_a_batch_that_finds_no_memory_has_not_happened(monkeypatch: pytest.MonkeyPatch) -> None:
    """Memory that runs out in the middle of a batch leaves the state as it was."""
    store = HashStore()
    apply_to(store, [(b"%d" % i, b"old") for i in range(100)])
    before = rows_of(store), store.row_count, store.live_bytes
    allocate = value_log.ValueLog.allocate
    left = 3

    def sparing(self: value_log.ValueLog, capacity: int) -> int:
        nonlocal left
        left -= 1
        if left < 0:
            raise MemoryError
        return allocate(self, capacity)

    with monkeypatch.context() as patch:
        patch.setattr(value_log.ValueLog, "allocate", sparing)
        with pytest.raises(MemoryError):
            apply_to(store, [(b"%d" % (i % 200), None if i % 7 == 0 else b"n" * 1000) for i in range(5000)])
    assert (rows_of(store), store.row_count, store.live_bytes) == before
    apply_to(store, [(b"1", b"new")])
    assert store.get(Slices.of([b"1", b"2"])).to_list() == [b"new", b"old"]


def test_a_state_beyond_the_engine_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """The error names the way out, and nothing is changed."""
    monkeypatch.setattr(value_log, "_CHUNKS_MAX", 4)
    store = HashStore()
    with pytest.raises(LakewardError, match="rocksdb") as raised:
        apply_to(store, [(b"%d" % i, b"v" * 100_000) for i in range(100)])
    assert raised.value.code is ErrorCode.KV_STORAGE
    assert store.row_count == 0


def test_undo_comes_before_maintain() -> None:
    """What has been settled is not taken back, and batches are taken back last first."""
    store = HashStore()
    first, second = apply_to(store, [(b"a", b"1")]), apply_to(store, [(b"a", b"2")])
    with pytest.raises(AssertionError):
        store.undo(first)
    store.maintain()
    with pytest.raises(AssertionError):
        store.undo(second)


def test_batches_that_are_taken_back_leave_no_garbage_for_long() -> None:
    """A disk that stays full makes the same batch fail again and again; memory does not grow with it."""
    store = HashStore()
    apply_to(store, [(b"%d" % i, b"v" * 100) for i in range(1000)])
    for _ in range(200):
        store.undo(apply_to(store, [(b"%d" % i, b"w" * 100) for i in range(1000)]))
        store.maintain()
    assert store.memory_bytes < 5 * store.live_bytes
    assert {value for _, value in rows_of(store)} == {b"v" * 100}


def test_a_view_outlives_the_chunks_it_reads() -> None:
    """Cleaning takes a chunk out of the log; a view that reads it holds on to it."""
    store = HashStore()
    numbers = np.arange(50_000)
    store.apply(varint_keys(numbers), fixed_values(len(numbers), 25, 0))
    before = rows_of(store)
    view = store.view()
    for turn in range(1, 6):
        store.apply(varint_keys(numbers), fixed_values(len(numbers), 25, turn))
        store.maintain()
    assert view.read(1 << 30).to_list() == before


def test_a_snapshot_file_that_is_no_snapshot_is_refused(tmp_path: Path) -> None:
    """Even when the checksums were wrongly found good, no byte outside a chunk is read."""
    store = HashStore()
    apply_to(store, [(b"%d" % i, b"v") for i in range(1000)])
    snapshot = store.snapshot(LocalFiles(), tmp_path, 0, {}).write()
    entries = snapshot.path / "entries"
    good = entries.read_bytes()
    for content in (b"", good[:-8], good[:10], good[:16] + b"\xff" * (len(good) - 16), good + good[:16]):
        entries.write_bytes(content)
        with pytest.raises(LakewardError, match="damaged"):
            store.restore(snapshot)
        assert store.row_count == 0
    entries.write_bytes(good)
    store.restore(snapshot)
    assert store.row_count == 1000
