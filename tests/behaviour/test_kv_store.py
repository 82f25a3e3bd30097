"""What every KvStore must do, whatever it is made of. The random walks are in test_kv_store_walks."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from kv_rows import apply_to, damage, fixed_values, read_all, rows_of, varint_keys

from lakeward.errors import ErrorCode, LakewardError
from lakeward.runtime.files.local_files import LocalFiles
from lakeward.storage.kv.engines import ENGINES, open_store
from lakeward.storage.kv.store import snapshots
from lakeward.storage.kv.store.slices import Slices
from lakeward.storage.kv.store.snapshots import newest_good_snapshot, stored_snapshots
from lakeward.storage.kv.store.store import KvStore


@pytest.fixture(params=ENGINES)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[KvStore]:
    """An empty store of each engine."""
    made = open_store(request.param, tmp_path / "work")
    yield made
    made.close()


# -- apply, undo


def test_a_new_store_is_empty(store: KvStore) -> None:
    """Nothing is there that nobody put."""
    assert (store.row_count, store.live_bytes, rows_of(store)) == (0, 0, [])
    assert store.get(Slices.of([b"a", b""])).to_list() == [None, None]
    assert store.scan_prefix(b"").to_list() == []
    assert read_all(store.view(), 100) == []


def test_old_values_are_those_before_each_record(store: KvStore) -> None:
    """A record sees what earlier records of the same batch did to its key."""
    apply_to(store, [(b"a", b"0")])
    records = [(b"a", b"1"), (b"b", b"2"), (b"b", b"3"), (b"a", None), (b"a", None), (b"a", b"4"), (b"c", None)]
    applied = apply_to(store, records)
    assert applied.old.to_list() == [b"0", None, b"2", b"1", None, None, None]
    assert applied.new.to_list() == [value for _, value in records]
    assert rows_of(store) == [(b"a", b"4"), (b"b", b"3")]


def test_an_empty_value_is_a_value(store: KvStore) -> None:
    """A row without bytes is there; a delete is something else."""
    apply_to(store, [(b"a", b""), (b"", b""), (b"b", b"x")])
    assert store.get(Slices.of([b"a", b"", b"b", b"c"])).to_list() == [b"", b"", b"x", None]
    assert apply_to(store, [(b"a", None)]).old.to_list() == [b""]
    assert rows_of(store) == [(b"", b""), (b"b", b"x")]


def test_an_empty_batch_changes_nothing(store: KvStore) -> None:
    """A batch may have no records, and be taken back."""
    applied = apply_to(store, [])
    assert len(applied.old) == 0
    store.undo(applied)
    assert store.row_count == 0


def test_undo_restores_the_state_exactly(store: KvStore) -> None:
    """New keys go, changed ones have their old values, deleted ones are back; whichever the order within the batch."""
    apply_to(store, [(b"kept", b"1"), (b"changed", b"2"), (b"deleted", b"3"), (b"both", b"4")])
    store.maintain()
    before = rows_of(store), store.row_count, store.live_bytes
    first = apply_to(store, [(b"new", b"5"), (b"changed", b"6"), (b"deleted", None), (b"both", None), (b"both", b"7")])
    second = apply_to(store, [(b"new", None), (b"new", b"8"), (b"changed", b"9"), (b"nothing", None)])
    store.undo(second)
    assert store.get(Slices.of([b"new", b"changed"])).to_list() == [b"5", b"6"]
    store.undo(first)
    assert (rows_of(store), store.row_count, store.live_bytes) == before
    assert apply_to(store, [(b"changed", b"10")]).old.to_list() == [b"2"]


def test_a_large_batch_can_be_taken_back(store: KvStore) -> None:
    """Undo works although the index had to grow for the batch."""
    apply_to(store, [(b"%d" % i, b"old") for i in range(10)])
    store.maintain()
    applied = apply_to(store, [(b"%d" % (i % 5000), None if i % 3 == 0 else b"%d" % i) for i in range(20_000)])
    store.undo(applied)
    assert rows_of(store) == [(b"%d" % i, b"old") for i in range(10)]


def test_old_values_outlive_what_comes_after(store: KvStore) -> None:
    """The caller may keep what it got while the store goes on and cleans up."""
    apply_to(store, [(b"%d" % i, b"first") for i in range(2000)])
    applied = apply_to(store, [(b"%d" % i, b"second") for i in range(2000)])
    for turn in range(60):
        apply_to(store, [(b"%d" % i, b"%d" % turn) for i in range(2000)])
        store.maintain()
    assert applied.old.to_list() == [b"first"] * 2000


def test_slices_outside_their_buffer_are_refused(store: KvStore) -> None:
    """A damaged batch gets an error and changes nothing."""
    good = Slices.of([b"key"])
    for starts, ends in (([0], [4]), ([2], [1]), ([-1], [2]), ([0], [2, 3])):
        bad = Slices(good.buffer, np.array(starts), np.array(ends))
        with pytest.raises(LakewardError) as raised:
            store.apply(bad, good)
        assert raised.value.code is ErrorCode.CORRUPT_RECORD
        with pytest.raises(LakewardError):
            store.get(bad)
    with pytest.raises(LakewardError):
        store.apply(Slices.of([b"a", b"b"]), good)
    assert store.row_count == 0


def test_large_keys_and_values_are_kept(store: KvStore) -> None:
    """A key of 1 MB and a value of 100 MB are unusual and work, beside small ones."""
    key, value = b"k" * (1 << 20), b"v" * (100 << 20)
    apply_to(store, [(b"a", b"1"), (key, value), (key + b"x", b"2"), (b"b", b"3" * 300_000)])
    assert store.get(Slices.of([key + b"x", b"b", b"a"])).to_list() == [b"2", b"3" * 300_000, b"1"]
    assert store.get(Slices.of([key]))[0] == value
    assert apply_to(store, [(key, b"small")]).old[0] == value
    store.maintain()
    assert rows_of(store) == [(b"a", b"1"), (b"b", b"3" * 300_000), (key, b"small"), (key + b"x", b"2")]


# -- scans


def test_keys_order_as_unsigned_bytes(store: KvStore) -> None:
    """Order is that of bytes, shorter first; 0xff is the last one, not the first."""
    keys = [b"", b"\0", b"\0\0", b"\0\1", b"a", b"a\0", b"a\0\0", b"ab", b"\x7f", b"\x80", b"\xff", b"\xff\xff"]
    apply_to(store, [(key, key) for key in reversed(keys)])
    assert [key for key, _ in rows_of(store)] == keys
    assert [key for key, _ in store.scan(3).to_list()] == keys[:3]
    assert store.scan(0).to_list() == []


def test_keys_that_begin_alike_are_ordered(store: KvStore) -> None:
    """Order holds where many keys share a long beginning, and where they differ in nothing but zeros at the end."""
    keys = [b"tenant-%d/the-same-for-all/%06d" % (i % 3, i * 7919 % 5000) for i in range(3000)]
    keys += [b"zeros" + b"\0" * i for i in range(300)]
    apply_to(store, [(key, b"v") for key in keys])
    assert [key for key, _ in rows_of(store)] == sorted(set(keys))
    assert [key for key, _ in store.scan(700).to_list()] == sorted(set(keys))[:700]


def test_a_prefix_finds_its_keys_and_no_others(store: KvStore) -> None:
    """Also those that came, changed or went since the first such lookup."""
    apply_to(store, [(b"a%d" % i, b"1") for i in range(100)] + [(b"\xff\xff", b"2"), (b"\xff", b"3")])
    assert [k for k, _ in store.scan_prefix(b"a1").to_list()] == sorted(b"a%d" % i for i in (1, *range(10, 20)))
    apply_to(store, [(b"a1", None), (b"a10", b"new"), (b"a1!", b"!"), (b"b", b"")])
    assert store.scan_prefix(b"a1").to_list()[:2] == [(b"a1!", b"!"), (b"a10", b"new")]
    apply_to(store, [(b"a1", b"back")])
    assert store.scan_prefix(b"a1").to_list()[0] == (b"a1", b"back")
    assert store.scan_prefix(b"\xff").to_list() == [(b"\xff", b"3"), (b"\xff\xff", b"2")]
    assert store.scan_prefix(b"a1!x").to_list() == []
    assert len(store.scan_prefix(b"")) == store.row_count


def test_prefixes_keep_up_with_many_new_keys(store: KvStore) -> None:
    """Whatever is done to keep keys in order, it loses none and repeats none."""
    for batch in range(12):
        assert len(store.scan_prefix(b"7-")) == batch * 100
        apply_to(store, [(b"%d-%d-%d" % (i % 10, batch, i), b"v") for i in range(1000)])
        apply_to(store, [(b"%d-%d-%d" % (i % 10, batch, i), b"w") for i in range(1000)])
        store.maintain()
    found = store.scan_prefix(b"7-").to_list()
    assert found == sorted(set(found))
    assert len(found) == 1200


def test_prefixes_keep_up_with_deletes(store: KvStore) -> None:
    """A key that went is not found, and is again when it is back."""
    records = [(b"%d-%d" % (i % 2, i), b"v") for i in range(1000)]
    apply_to(store, records)
    assert len(store.scan_prefix(b"1-")) == 500
    apply_to(store, [(key, None) for key, _ in records[10:]])
    store.maintain()
    assert len(store.scan_prefix(b"1-")) == 5
    apply_to(store, records[:100])
    store.maintain()
    assert len(store.scan_prefix(b"1-")) == 50


def test_a_view_stays_as_it_was(store: KvStore) -> None:
    """A scan sees the moment it was opened at, in batches of the size asked for, while writes go on."""
    rows = sorted((b"%05d" % i, b"v%d" % i) for i in range(3000))
    apply_to(store, rows)
    view = store.view()
    assert view.row_count == 3000
    found = view.read(1).to_list()
    assert found == rows[:1]
    for turn in range(40):
        apply_to(store, [(key, b"later%d" % turn) for key, _ in rows] + [(rows[0][0], None)])
        store.maintain()
        batch = view.read(1000).to_list()
        assert sum(len(k) + len(v) for k, v in batch) <= 1000
        found += batch
    assert found + read_all(view, 1 << 20) == rows
    view.close()
    assert view.read(100).to_list() == []


# -- snapshots


def test_a_snapshot_holds_the_moment_it_was_taken_at(store: KvStore, tmp_path: Path) -> None:
    """It is written on another thread while writes go on, and has nothing of them."""
    taken = sorted((b"%d" % i, b"v%d" % i) for i in range(30_000))
    apply_to(store, taken)
    pending = store.snapshot(LocalFiles(), tmp_path / "snapshots", 4711, {"auto_increment": {"3": [101, 200]}})
    writer = threading.Thread(target=pending.write)
    writer.start()
    for turn in range(20):
        apply_to(store, [(key, None if turn % 3 == 0 else b"later") for key, _ in taken[: 1000 * turn]])
        store.maintain()
    writer.join()
    snapshot = newest_good_snapshot(LocalFiles(), tmp_path / "snapshots")
    assert snapshot is not None
    assert (snapshot.log_offset, snapshot.row_count, snapshot.engine) == (4711, 30_000, store.engine)
    assert snapshot.extra == {"auto_increment": {"3": [101, 200]}}
    store.restore(snapshot)
    assert rows_of(store) == taken
    assert store.live_bytes == sum(len(k) + len(v) for k, v in taken)
    assert apply_to(store, [(b"7", b"goes on")]).old.to_list() == [b"v7"]


def test_two_snapshots_are_kept(store: KvStore, tmp_path: Path) -> None:
    """The newest and one to fall back to; older ones are removed."""
    for offset in range(4):
        apply_to(store, [(b"offset", b"%d" % offset)])
        store.snapshot(LocalFiles(), tmp_path / "s", offset, {}).write()
    assert [s.log_offset for s in stored_snapshots(LocalFiles(), tmp_path / "s")] == [3, 2]
    assert len(list((tmp_path / "s").iterdir())) == 2


def test_a_damaged_snapshot_falls_back_to_the_one_before(store: KvStore, tmp_path: Path) -> None:
    """One wrong byte in any file, the manifest included, is recognised."""
    apply_to(store, [(b"%d" % i, b"older") for i in range(100)])
    store.snapshot(LocalFiles(), tmp_path / "s", 1, {}).write()
    apply_to(store, [(b"%d" % i, b"newer") for i in range(100)])
    newest = store.snapshot(LocalFiles(), tmp_path / "s", 2, {}).write()
    kept = tmp_path / "kept"
    for name in [*newest.files, snapshots.MANIFEST]:
        newest.path.rename(kept)
        newest.path.mkdir()
        for file in kept.iterdir():
            (newest.path / file.name).write_bytes(file.read_bytes())
        good = newest_good_snapshot(LocalFiles(), tmp_path / "s")
        assert good is not None
        assert good.log_offset == 2
        damage(newest.path / name)
        good = newest_good_snapshot(LocalFiles(), tmp_path / "s")
        assert good is not None, name
        assert good.log_offset == 1, name
        for file in newest.path.iterdir():
            file.unlink()
        newest.path.rmdir()
        kept.rename(newest.path)
    damage(newest.path / snapshots.MANIFEST)
    good = newest_good_snapshot(LocalFiles(), tmp_path / "s")
    assert good is not None
    store.restore(good)
    assert {value for _, value in rows_of(store)} == {b"older"}


def test_a_disk_that_fails_costs_the_snapshot_only(
    store: KvStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No room for a snapshot: the error says so, the state goes on, nothing is left, the next one works."""
    apply_to(store, [(b"a", b"1")])
    pending = store.snapshot(LocalFiles(), tmp_path / "s", 1, {})

    def no_room(*_: object) -> tuple[int, int]:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(snapshots, "_size_and_checksum", no_room)
        with pytest.raises(LakewardError, match="No space left") as raised:
            pending.write()
    assert raised.value.code is ErrorCode.KV_STORAGE
    assert list((tmp_path / "s").iterdir()) == []
    assert rows_of(store) == [(b"a", b"1")]
    store.snapshot(LocalFiles(), tmp_path / "s", 2, {}).write()
    assert newest_good_snapshot(LocalFiles(), tmp_path / "s") is not None


def test_large_values_survive_a_snapshot(store: KvStore, tmp_path: Path) -> None:
    """Entries of every size come back."""
    rows = sorted((b"k%d" % size, bytes(size)) for size in (0, 1, 254, 255, 256, 65_536, 1 << 20, 3 << 20))
    apply_to(store, rows)
    store.restore(store.snapshot(LocalFiles(), tmp_path / "s", 0, {}).write())
    assert rows_of(store) == rows
    apply_to(store, [(key, b"x" + value) for key, value in rows])
    store.maintain()
    assert rows_of(store) == [(key, b"x" + value) for key, value in rows]


# -- size


def test_an_overwritten_state_stays_small(tmp_path: Path) -> None:
    """Ten full overwrites, in random order: memory stays under 2.5 times the live keys and values."""
    store = open_store("hash", tmp_path)
    order = np.random.default_rng(7)
    numbers = np.arange(60_000)
    expected = np.empty((len(numbers), 25), np.uint8)
    for turn in range(11):
        for i, part in enumerate(np.array_split(numbers if turn == 0 else order.permutation(numbers), 12)):
            values = fixed_values(len(part), 25, turn * 12 + i)
            expected[part] = values.buffer.reshape(-1, 25)
            store.apply(varint_keys(part), values)
            store.maintain()
            assert turn == 0 or store.memory_bytes < 2.5 * store.live_bytes
    assert store.row_count == 60_000
    assert np.array_equal(store.get(varint_keys(numbers)).buffer.reshape(-1, 25), expected)


@pytest.mark.parametrize("rows", [40_000, 98_305, 196_608])
def test_a_key_costs_little_memory(rows: int, tmp_path: Path) -> None:
    """Under 40 bytes a row beyond the row's own, also just after the index has doubled."""
    store = open_store("hash", tmp_path)
    for part in np.array_split(np.arange(rows), 10):
        store.apply(varint_keys(part), fixed_values(len(part), 25, 1))
        store.maintain()
    assert (store.memory_bytes - store.live_bytes) / rows < 40


def test_a_state_that_shrinks_gives_memory_back(tmp_path: Path) -> None:
    """After most rows are deleted, index and value log are small again."""
    store = open_store("hash", tmp_path)
    store.apply(varint_keys(np.arange(100_000)), fixed_values(100_000, 25, 1))
    gone = varint_keys(np.arange(99_000))
    absent = np.full(99_000, -1)
    store.apply(gone, Slices(gone.buffer, absent, absent))
    store.maintain()
    assert store.row_count == 1000
    assert store.memory_bytes < 700_000  # of 4 million
    assert store.get(varint_keys(np.array([98_999, 99_000])))[1] is not None


def test_snapshots_of_many_overwrites_hold_live_rows_only(store: KvStore, tmp_path: Path) -> None:
    """What a snapshot takes on disk is what is live, not what was."""
    for turn in range(20):
        apply_to(store, [(b"%d" % i, b"%d" % turn * 20) for i in range(500)])
    snapshot = store.snapshot(LocalFiles(), tmp_path / "s", 0, {}).write()
    assert sum(size for size, _ in snapshot.files.values()) < 2 * store.live_bytes + 20_000
