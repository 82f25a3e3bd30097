"""Random walks: every KvStore and a plain dict are told the same, and must say the same."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import pytest
from examples import EXAMPLES
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule
from kv_rows import Model, Record, apply_to, apply_to_model, damage, read_all

from lakeward.runtime.files.local_files import LocalFiles
from lakeward.storage.kv.engines import ENGINES, open_store, restore_any
from lakeward.storage.kv.hash import hash_store, ordered_keys, value_log
from lakeward.storage.kv.store import snapshots
from lakeward.storage.kv.store.slices import Slices
from lakeward.storage.kv.store.snapshots import PendingSnapshot, newest_good_snapshot
from lakeward.storage.kv.store.store import AppliedBatch, KvStore, KvView


@pytest.fixture(autouse=True, scope="module")
def small_steps() -> Iterator[None]:
    """Chunks of a few rows and no garbage left lying, so that short walks meet every kind of housekeeping."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(value_log, "_CHUNK_BYTES_MIN", 256)
        patch.setattr(hash_store, "_GARBAGE_BYTES_MIN", 64)
        patch.setattr(ordered_keys, "_RECENT_MIN", 8)
        yield


#: Few keys, so that they repeat; short and long, with common beginnings, with zeros and 0xff at the end.
KEYS = st.one_of(
    st.binary(max_size=2),
    st.integers(0, 40).map(lambda i: b"a-common-beginning/%d" % i),
    st.integers(0, 12).map(lambda i: b"zeros" + b"\0" * i),
    st.sampled_from([b"\xff" * 8, b"\xff" * 9, b"k" * 254, b"k" * 255, b"k" * 300]),
)
VALUES = st.one_of(
    st.none(), st.binary(max_size=40), st.sampled_from([254, 255, 256, 20_000]).map(lambda size: b"v" * size)
)
RECORDS = st.lists(st.tuples(KEYS, VALUES), max_size=60)
PREFIXES = st.one_of(st.just(b""), st.binary(max_size=2), KEYS, st.just(b"a-common-beginning/1"))
BYTES = st.sampled_from([1, 50, 1000, 1 << 20])


@dataclass
class Kept:
    """Snapshots on disk, one directory per engine, of which this is the offset and what they hold."""

    offset: int
    rows: Model
    damaged: bool = False


class StoreWalk(RuleBasedStateMachine):
    """All engines and a dict, side by side."""

    def __init__(self) -> None:
        super().__init__()
        self._directory = Path(tempfile.mkdtemp())
        self._stores: list[KvStore] = [open_store(engine, self._directory / engine) for engine in ENGINES]
        self._model: Model = {}
        self._undoable: list[tuple[list[AppliedBatch], Model]] = []
        self._views: tuple[list[KvView], list[tuple[bytes, bytes]]] | None = None
        self._pending: tuple[list[PendingSnapshot], Kept] | None = None
        self._kept: list[Kept] = []
        self._offset = 0

    def teardown(self) -> None:
        """Leave nothing."""
        for store in self._stores:
            store.close()
        shutil.rmtree(self._directory)

    def _snapshots_of(self, store: KvStore) -> Path:
        return self._directory / f"{store.engine}-snapshots"

    @rule(records=RECORDS)
    def apply(self, records: list[Record]) -> None:
        """Old values are those that the dict had."""
        before = self._model.copy()
        old = apply_to_model(self._model, records)
        applied = [apply_to(store, records) for store in self._stores]
        assert all(a.old.to_list() == old for a in applied)
        self._undoable.append((applied, before))
        self._offset += 1

    @precondition(lambda self: self._undoable)
    @rule()
    def undo(self) -> None:
        """The last batch has not happened."""
        applied, self._model = self._undoable.pop()
        for store, one in zip(self._stores, applied, strict=True):
            store.undo(one)

    @rule()
    def maintain(self) -> None:
        """Housekeeping changes nothing that can be seen."""
        self._undoable.clear()
        for store in self._stores:
            store.maintain()

    @rule(keys=st.lists(KEYS, max_size=20))
    def get(self, keys: list[bytes]) -> None:
        """Values are those that the dict has."""
        for store in self._stores:
            assert store.get(Slices.of(keys)).to_list() == [self._model.get(key) for key in keys]

    @rule(limit=st.integers(0, 80))
    def scan(self, limit: int) -> None:
        """The first rows in the order of bytes."""
        for store in self._stores:
            assert store.scan(limit).to_list() == sorted(self._model.items())[:limit]

    @rule(prefix=PREFIXES)
    def scan_prefix(self, prefix: bytes) -> None:
        """All rows that begin so, in the order of bytes."""
        expected = [row for row in sorted(self._model.items()) if row[0].startswith(prefix)]
        for store in self._stores:
            assert store.scan_prefix(prefix).to_list() == expected

    @precondition(lambda self: self._views is None)
    @rule()
    def open_view(self) -> None:
        """A view begins."""
        self._views = [store.view() for store in self._stores], sorted(self._model.items())

    @precondition(lambda self: self._views is not None)
    @rule(bytes_max=BYTES)
    def read_view(self, bytes_max: int) -> None:
        """A view goes on where it was, with the rows of the moment it was opened at."""
        assert self._views is not None
        views, expected = self._views
        batches = [view.read(bytes_max).to_list() for view in views]
        assert all(batch == list(islice(expected, len(batch))) for batch in batches)
        assert all(bool(batch) == bool(expected) for batch in batches)
        assert len({len(batch) for batch in batches}) == 1
        self._views = views, expected[len(batches[0]) :]

    @precondition(lambda self: self._views is not None)
    @rule(bytes_max=BYTES)
    def finish_view(self, bytes_max: int) -> None:
        """A view is read to its end."""
        assert self._views is not None
        views, expected = self._views
        assert all(read_all(view, bytes_max) == expected for view in views)
        self._views = None

    @precondition(lambda self: self._pending is None)
    @rule()
    def take_snapshot(self) -> None:
        """A snapshot is cut; it will be written later."""
        extra = {"turn": self._offset}
        made = [store.snapshot(LocalFiles(), self._snapshots_of(store), self._offset, extra) for store in self._stores]
        self._pending = made, Kept(self._offset, self._model.copy())

    @precondition(lambda self: self._pending is not None)
    @rule()
    def write_snapshot(self) -> None:
        """A snapshot is written; two are kept."""
        assert self._pending is not None
        pending, kept = self._pending
        for one in pending:
            one.write()
        self._kept = [*self._kept, kept][-2:]
        self._pending = None

    @precondition(lambda self: self._kept and not self._kept[-1].damaged)
    @rule(which=st.integers(0, 20))
    def damage_newest_snapshot(self, which: int) -> None:
        """The disk changes a byte of the newest snapshot."""
        for store in self._stores:
            newest = snapshots.stored_snapshots(LocalFiles(), self._snapshots_of(store))[0]
            names = [*newest.files, snapshots.MANIFEST]
            damage(newest.path / names[which % len(names)])
        self._kept[-1].damaged = True

    @precondition(lambda self: self._kept)
    @rule(swap=st.booleans())
    def restore(self, swap: bool) -> None:
        """The newest good snapshot comes back, also from another engine's files."""
        good = [kept for kept in self._kept if not kept.damaged]
        found = [newest_good_snapshot(LocalFiles(), self._snapshots_of(store)) for store in self._stores]
        if not good:
            assert found == [None] * len(self._stores)
            return
        if swap:
            found.reverse()
        for store, snapshot in zip(self._stores, found, strict=True):
            assert snapshot is not None
            assert (snapshot.log_offset, snapshot.extra) == (good[-1].offset, {"turn": good[-1].offset})
            assert snapshot.row_count == len(good[-1].rows)
            self._clear(store)
            restore_any(store, snapshot, self._directory / "carried")
        self._model = good[-1].rows.copy()
        self._undoable.clear()
        self._views = None

    def _clear(self, store: KvStore) -> None:
        store.maintain()
        apply_to(store, [(key, None) for key in self._model])
        store.maintain()

    @invariant()
    def counts_agree(self) -> None:
        """Rows and bytes are counted as they are."""
        size = sum(len(key) + len(value) for key, value in self._model.items())
        assert all((s.row_count, s.live_bytes) == (len(self._model), size) for s in self._stores)


TestStoreWalk = StoreWalk.TestCase
TestStoreWalk.settings = settings(max_examples=EXAMPLES, stateful_step_count=40, deadline=None)
