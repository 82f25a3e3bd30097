"""A bucket of a primary key table against a dict: any writes, engines, formats, restarts, crashes and full disks.

After every step the state is that of the dict, the changelog is the dict's own, and the changelog played back from its
beginning gives the state.
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
import pytest
from examples import EXAMPLES
from hypothesis import settings
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from kv_model import DeletesRefusedError, Key, KvModel, Record, Row
from kv_rows import damage
from kv_tablets import WRITER, TabletUnderTest

from lakeward.errors import ErrorCode, LakewardError
from lakeward.model import data_types as t
from lakeward.model.schema import Aggregate, Column, Schema
from lakeward.runtime.files.local_files import LocalFiles
from lakeward.storage.kv.store.snapshots import stored_snapshots
from lakeward.storage.log.writer_state import Verdict

NUMBERS = st.none() | st.integers(-9, 9)
TEXTS = st.none() | st.text("abü", max_size=3)
#: The columns behind the key: type, aggregate function, values. The first one is the version too.
KINDS: list[tuple[t.DataType, str, st.SearchStrategy[Any]]] = [
    (t.INT(), "sum", NUMBERS),
    (t.STRING(), "listagg", TEXTS),
    (t.BIGINT(), "max", NUMBERS),
    (t.STRING(), "last_value_ignore_nulls", TEXTS),
]
#: No disk where that can be had: what is synced here is synced thousands of times.
MEMORY = Path("/dev/shm")
ENGINES = [None, None, "first_row", "versioned", "aggregation"]


class KvTabletMachine(RuleBasedStateMachine):
    """Random steps of one bucket's life."""

    @initialize(data=st.data())
    def begin(self, data: st.DataObject) -> None:
        """Choose a table and open it."""
        pick = lambda *choices: data.draw(st.sampled_from(choices))  # noqa: E731
        self.directory = Path(tempfile.mkdtemp(prefix="kv-tablet-", dir=MEMORY if MEMORY.exists() else None))
        engine = pick(*ENGINES)
        deletes = (
            pick("IGNORE", "DISABLE") if engine in {"first_row", "versioned"} else pick("ALLOW", "ALLOW", "IGNORE")
        )
        key_types = pick([t.INT()], [t.INT(), t.STRING()])
        columns = [Column(f"k{i}", type_) for i, type_ in enumerate(key_types)]
        columns += [_column(i, is_aggregated=engine == "aggregation") for i in range(data.draw(st.integers(1, 3)))]
        properties = {
            "table.delete.behavior": deletes,
            "table.changelog.image": pick("FULL", "WAL"),
            "table.log.format": pick("ARROW", "ARROW", "COMPACTED"),
            "table.kv.format": pick("COMPACTED", "INDEXED"),
            "table.merge-engine.versioned.ver-column": "c0",
        }
        if properties["table.log.format"] == "COMPACTED":
            properties["table.kv.format"] = "COMPACTED"
        if engine is not None:
            properties["table.merge-engine"] = engine
        names = [c.name for c in columns[: len(key_types)]]
        self.model = KvModel(
            key_columns=len(key_types),
            functions=[KINDS[i % len(KINDS)][1] for i in range(len(columns) - len(key_types))],
            engine=engine,
            deletes=deletes,
            image=properties["table.changelog.image"],
            version_at=len(key_types),
        )
        self.tablet = TabletUnderTest(
            self.directory, Schema.of(columns, names), properties, pick("hash", "rocksdb"), pick(300, 1500, 1 << 20)
        )
        self.clock_ms = 0

    def teardown(self) -> None:
        """Leave nothing behind."""
        if hasattr(self, "tablet"):
            self.tablet.crash()
            shutil.rmtree(self.directory)

    # -- writes

    def _records(self, data: st.DataObject, schema_id: int) -> list[Record]:
        columns = self.tablet.schemas[schema_id].columns[self.model.key_columns :]
        cells = st.tuples(*(KINDS[i % len(KINDS)][2] for i in range(len(columns))))
        keys = st.tuples(st.integers(0, 4), st.sampled_from(["", "a", "ab"])).map(lambda k: k[: self.model.key_columns])
        rows = st.none() | cells if data.draw(st.booleans()) else cells
        drawn = data.draw(st.lists(st.tuples(keys, rows), max_size=8))
        return [(key, None if row is None else (*key, *row)) for key, row in drawn]

    def _targets(self, data: st.DataObject) -> list[int] | None:
        if self.model.engine not in {None, "aggregation"} or not data.draw(st.booleans()):
            return None
        keys = set(range(self.model.key_columns))
        return sorted(keys | data.draw(st.sets(st.integers(0, self.model.width - 1))))

    @rule(data=st.data())
    def put(self, data: st.DataObject) -> None:
        """A batch of upserts and deletes, of whole rows or of some columns."""
        schema_id = data.draw(st.sampled_from(sorted(self.tablet.schemas)))
        records, targets = self._records(data, schema_id), self._targets(data)
        overwrite = data.draw(st.integers(0, 5)) == 0
        try:
            self.model.put(records, targets, overwrite=overwrite)
        except DeletesRefusedError:
            self._refused(ErrorCode.DELETION_DISABLED, records, targets, schema_id)
            return
        end = self.tablet.put(records, targets or (), schema_id=schema_id, overwrite=overwrite, now_ms=self.clock_ms)
        assert end == self.model.end_offset

    @rule(data=st.data())
    def put_with_a_null_key(self, data: st.DataObject) -> None:
        """One row has NULL in its key: nothing of the batch is written."""
        latest = max(self.tablet.schemas)
        records = [(key, row) for key, row in self._records(data, latest) if row is not None]
        key: Key = (0, "")[: self.model.key_columns]
        self._refused(ErrorCode.INVALID_TARGET_COLUMN, [*records, (key, (None,) * self.model.width)], None, latest)

    @rule(data=st.data())
    def put_on_a_full_disk(self, data: st.DataObject) -> None:
        """The log takes nothing, or a part: nothing has happened, and the same batch does well later."""
        latest = max(self.tablet.schemas)
        records = [(key, row) for key, row in self._records(data, latest) if row is not None]
        with self.tablet.disk.full(data.draw(st.sampled_from([0, 1, 40]))):
            self._refused(ErrorCode.LOG_STORAGE, records, self._targets(data), latest)

    def _refused(self, code: ErrorCode, records: list[Record], targets: list[int] | None, schema_id: int) -> None:
        with pytest.raises(LakewardError) as refused:
            self.tablet.put(records, targets or (), schema_id=schema_id, now_ms=self.clock_ms)
        assert refused.value.code is code

    @precondition(lambda self: len(self.tablet.schemas) < 4)
    @rule()
    def add_a_column(self) -> None:
        """The table's schema grows."""
        place = len(self.model.functions)
        self.tablet.add_column(_column(place, is_aggregated=self.model.engine == "aggregation"))
        self.model.add_column(KINDS[place % len(KINDS)][1])

    # -- keeping

    @rule()
    def work_on_disk(self) -> None:
        """What was put off is done."""
        assert not self.tablet.run_jobs()

    @rule(now=st.booleans())
    def snapshot(self, now: bool) -> None:
        """A snapshot is begun; it may be written much later, or never."""
        self.tablet.kv.snapshot()
        if now:
            assert not self.tablet.run_jobs()

    @rule()
    def snapshot_on_a_full_disk(self) -> None:
        """A snapshot that cannot be written leaves those that are there, and the next one does well."""
        self.tablet.run_jobs()
        before = stored_snapshots(LocalFiles(), self.directory / "kv")
        with self.tablet.disk.full():
            self.tablet.kv.snapshot()
            self.tablet.run_jobs()
        assert stored_snapshots(LocalFiles(), self.directory / "kv") == before
        self.snapshot(now=True)

    @rule()
    def retain(self) -> None:
        """Time goes by and old segments go, but never what a snapshot still needs."""
        self.clock_ms += 100
        self.tablet.log.retain(self.clock_ms, self.tablet.kv.retained_offset)

    # -- restarts

    @rule(engine=st.sampled_from(["hash", "rocksdb"]))
    def stop_and_start(self, engine: str) -> None:
        """Closed and opened again, perhaps with the other store."""
        self.tablet.stop()
        self.tablet.engine = engine
        self.tablet.open()

    @rule(engine=st.sampled_from(["hash", "rocksdb"]), torn_bytes=st.sampled_from([0, 0, 1, 50, 1000]))
    def crash_and_start(self, engine: str, torn_bytes: int) -> None:
        """Lost memory, lost work, perhaps a torn last batch, which then never was."""
        self.tablet.crash()
        is_torn = torn_bytes > 0 and self.tablet.tear(torn_bytes)
        self.tablet.engine = engine
        self.tablet.open()
        if is_torn:
            self.model.back_to(self.tablet.log.end_offset)
            self.tablet.next_sequence -= 1

    @rule(kill=st.booleans())
    def start_with_a_damaged_snapshot(self, kill: bool) -> None:
        """A byte of the newest snapshot is wrong: the one before it is good, or the log from its beginning is there."""
        snapshots = stored_snapshots(LocalFiles(), self.directory / "kv")
        if kill:
            self.tablet.crash()
        else:
            self.tablet.stop()
            snapshots = stored_snapshots(LocalFiles(), self.directory / "kv")
        if len(snapshots) > 1 or (snapshots and not self.tablet.log.start_offset):
            damage(max(snapshots[0].path.iterdir(), key=lambda file: (file.stat().st_size, file.name)))
        self.tablet.open()

    # -- what must hold

    @invariant()
    def holds(self) -> None:
        """State and changelog are those of the model, and one follows from the other."""
        if not hasattr(self, "tablet"):
            return
        tablet, model = self.tablet, self.model
        assert tablet.log.end_offset == model.end_offset
        assert tablet.kv.row_count == len(model.state)
        by_key = [model.state[key] for key in sorted(model.state, key=tablet.key)]
        assert tablet.rows() == by_key
        keys: list[Key] = [(n, "a")[: model.key_columns] for n in range(6)]
        assert tablet.get(keys) == [model.state.get(key) for key in keys]
        assert tablet.rows((1,)) == [row for row in by_key if row[0] == 1]
        log = tablet.changelog()
        assert log == [entry for entry in model.log if entry[0] >= tablet.log.start_offset]
        state = dict(model.history[tablet.log.start_offset])
        _play(state, log, model.key_columns)
        assert state == model.state
        if tablet.next_sequence:
            assert tablet.log.writers.judge(WRITER, tablet.next_sequence)[0] is Verdict.NEXT
            assert tablet.log.writers.judge(WRITER, tablet.next_sequence - 1)[0] is Verdict.DUPLICATE


def _play(state: dict[Key, Row], log: list[tuple[int, str, Row]], key_columns: int) -> None:
    for _, kind, row in log:
        key = row[:key_columns]
        if kind == "-D":
            assert state.pop(key) == row
        elif kind == "-U":
            assert state[key] == row
        else:
            assert kind != "+I" or key not in state
            state[key] = row


def _column(place: int, *, is_aggregated: bool) -> Column:
    type_, function, _ = KINDS[place % len(KINDS)]
    return Column(f"c{place}", type_, aggregate=Aggregate(function) if is_aggregated else None)


KvTabletMachine.TestCase.settings = settings(max_examples=EXAMPLES, stateful_step_count=20)
test_a_bucket_is_a_dict = KvTabletMachine.TestCase
