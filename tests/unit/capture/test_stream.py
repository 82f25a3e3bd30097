"""A stream of a database is exact, whatever happens to the database meanwhile and however often steps are repeated."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from model_database import ModelDatabase, Replay

from lakeward.capture.port import Event, Position, SchemaChange, SourceTable, TableId
from lakeward.capture.progress import Progress, work_between
from lakeward.capture.stream import CaptureStream, Startup, StreamSettings
from lakeward.model.data_types import INT, STRING
from lakeward.model.schema import Schema
from lakeward.runtime.clock import SystemClock

USERS = SourceTable(TableId("shop", "users"), Schema.of([("id", INT()), ("name", STRING())], ["id"]))
PAIRS = SourceTable(TableId("shop", "pairs"), Schema.of([("a", INT()), ("b", STRING()), ("n", INT())], ["a", "b"]))
LATE = SourceTable(TableId("shop", "late"), Schema.of([("id", INT())], ["id"]))
WIDER = SourceTable(USERS.id, Schema.of([("id", INT()), ("name", STRING()), ("town", STRING())], ["id"]))

# One number says what is done, the others to which row.
actions = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 12), st.integers(0, 12)), max_size=12)


def _database(rows: int) -> ModelDatabase:
    database = ModelDatabase()
    database.create(USERS)
    database.create(PAIRS)
    for n in range(rows):
        database.put(USERS.id, {"id": n, "name": f"name {n}"})
        database.put(PAIRS.id, {"a": n % 3, "b": str(n), "n": n})
    return database


def _act(database: ModelDatabase, deeds: list[tuple[int, int, int]]) -> None:
    for deed, one, other in deeds:
        users = database.rows[USERS.id]
        row: dict[str, Any] = {"id": one, "name": f"new {other}"}
        if "town" in database.schemas[USERS.id].schema.names:
            row["town"] = f"town {other}"
        match deed:
            case 0 | 1 | 2:
                database.put(USERS.id, row)
            case 3 | 4 if (one,) in users:
                database.delete(USERS.id, (one,))
            case 5 if (other,) in users and (one,) not in users:
                database.move(USERS.id, (other,), row)
            case 6:
                database.put(PAIRS.id, {"a": one % 3, "b": str(other), "n": other})
            case 7 if LATE.id not in database.schemas:
                database.create(LATE)
            case 8 if LATE.id in database.schemas:
                database.put(LATE.id, {"id": one})
            case 9 if one == 0 and LATE.id in database.schemas:
                database.drop_table(LATE.id)
            case _:
                pass


def _stream(database: ModelDatabase, startup: Startup = Startup.INITIAL) -> CaptureStream:
    return CaptureStream(database, StreamSettings(startup, chunk_rows=3), SystemClock())


def _events(stream: CaptureStream, start: Progress, end: Progress) -> list[Event]:
    return [event for work in work_between(start, end, 2) for event in stream.read(work)]


@settings(max_examples=200, deadline=None)
@given(st.integers(0, 12), st.lists(st.tuples(actions, st.booleans(), st.integers(1, 9)), min_size=1, max_size=15))
def test_what_was_copied_and_followed_is_the_database(rows: int, steps: list[Any]) -> None:
    """Rows change between and within the steps, steps are repeated from their offsets: no row lost, none twice."""
    database, replay, at = _database(rows), Replay(), Progress()
    for deeds, is_repeated, limit in [*steps, *[([], False, 100)] * 20]:
        start = Progress.of_json(at.to_json())
        end = _stream(database).advance(start, limit)
        _act(database, deeds[: len(deeds) // 2])
        if is_repeated:  # the process died in the middle, and the micro-batch comes again
            _events(_stream(database), start, end)
            _act(database, deeds[len(deeds) // 2 :])
        for event in _events(_stream(database), start, Progress.of_json(end.to_json())):
            replay.take(event)
        at = end
        if at.at is not None:
            database.release(at.at)
    assert at.is_copied
    assert {id_: rows for id_, rows in replay.rows.items() if rows} == {
        id_: rows for id_, rows in database.rows.items() if rows
    }
    assert {table.id: table for table in at.known} == database.schemas
    assert not replay.must_end


def test_rows_that_change_while_a_chunk_is_read_are_put_back() -> None:
    """The copy is as of the position that stands in the offset; the changes come after it."""
    database, replay = _database(10), Replay()
    group = _stream(database).advance(Progress())
    database.meanwhile = lambda: _act(database, [(0, 1, 1), (3, 2, 0), (5, 20, 3), (0, 15, 15)])
    copied = group
    while copied.copying:
        start, copied = copied, _stream(database).advance(copied, 6)
        for event in _events(_stream(database), start, copied):
            replay.take(event)
    database.meanwhile = None
    end = _stream(database).advance(copied)
    for event in _events(_stream(database), copied, end):
        replay.take(event)
    assert replay.rows == database.rows


def test_a_snapshot_ends_and_is_of_one_moment() -> None:
    """All tables as of where it began, and no step after the last chunk."""
    database, replay = _database(5), Replay()
    then = {id_: {key: dict(row) for key, row in rows.items()} for id_, rows in database.rows.items()}
    at, end = Progress(), _stream(database, Startup.SNAPSHOT).advance(Progress())
    while end != at:
        _act(database, [(0, 1, 1), (6, 1, 1)])
        for event in _events(_stream(database, Startup.SNAPSHOT), at, end):
            replay.take(event)
        at, end = end, _stream(database, Startup.SNAPSHOT).advance(end, 3)
    assert replay.rows == then


def test_the_latest_offset_copies_nothing() -> None:
    """Only what is committed from then on."""
    database, replay = _database(5), Replay()
    begun = _stream(database, Startup.LATEST).advance(Progress())
    assert begun.phase == "streaming"
    database.put(USERS.id, {"id": 77, "name": "new"})
    end = _stream(database, Startup.LATEST).advance(begun)
    for event in _events(_stream(database), begun, end):
        replay.take(event)
    assert replay.rows == {USERS.id: {(77,): {"id": 77, "name": "new"}}}


def test_changes_are_followed_no_further_than_asked() -> None:
    """Until a position, and about so many rows at a time."""
    database = _database(5)
    stream = _stream(database, Startup.LATEST)
    begun = stream.advance(Progress())
    _act(database, [(0, n, n) for n in range(6)])
    until = database.now()
    _act(database, [(0, 7, 7)])
    first = stream.advance(begun, 4, until)
    second = stream.advance(first, 4, until)
    assert [first.at, second.at, stream.advance(second, 4, until)] == [{"n": 16}, until, second]
    assert first.seen_ms == begun.seen_ms


def test_a_schema_change_is_known_after_it() -> None:
    """The offset has the table as it was where the offset stands, before and after ALTER TABLE."""
    database = _database(2)
    stream = _stream(database, Startup.LATEST)
    begun = stream.advance(Progress())
    database.put(USERS.id, {"id": 5, "name": "five"})
    database.alter(WIDER)
    database.put(USERS.id, {"id": 6, "name": "six", "town": "Graz"})
    before = stream.advance(begun, 1)
    assert before.known == begun.known
    after = stream.advance(before)
    assert WIDER in after.known
    replay = Replay()
    for start, end in ((begun, before), (before, after)):
        for event in _events(stream, start, end):
            replay.take(event)
    assert replay.rows[USERS.id] == {
        (5,): {"id": 5, "name": "five", "town": None},
        (6,): {"id": 6, "name": "six", "town": "Graz"},
    }


class _Shy(ModelDatabase):
    """Tells nothing of a table until it is named, not even in its log."""

    is_shy = True

    def tables(self) -> Sequence[SourceTable]:
        """Those that are named."""
        return [table for table in super().tables() if not (self.is_shy and table.id == LATE.id)]

    def changes(self, start: Position, end: Position, known: Sequence[SourceTable]) -> Iterator[Event]:
        """What a publication that has not had the table tells."""
        named = {table.id for table in known}
        for event in super().changes(start, end, known):
            if (event.id if isinstance(event, SchemaChange) else event.table.id) in named:
                yield event


def test_a_table_that_is_found_later_is_copied() -> None:
    """It is told of before its rows come, and the rows that it had are not lost."""
    database = _Shy()
    database.create(USERS)
    database.create(LATE)
    database.put(LATE.id, {"id": 1})
    stream, replay, at = _stream(database), Replay(), Progress()
    told: list[str] = []
    for step in range(12):
        if step == 5:
            database.is_shy = False
            database.put(LATE.id, {"id": 2})
        if step == 8:
            database.put(LATE.id, {"id": 3})
        end = stream.advance(at)
        for event in _events(stream, at, end):
            replay.take(event)
            if isinstance(event, SchemaChange):
                told.append("created")
            elif event.table.id == LATE.id:
                told.append("rows")
        at = end
    assert (told[0], told.count("created")) == ("created", 1)
    assert replay.rows[LATE.id] == {(n,): {"id": n} for n in (1, 2, 3)}
    assert at.is_copied


def test_the_lag_is_the_time_since_all_was_read() -> None:
    """Nothing to read is no lag; the head knows where the database ends."""
    database = _database(1)
    stream = _stream(database, Startup.LATEST)
    begun = stream.advance(Progress())
    assert stream.lag_ms(begun) == 0
    database.put(USERS.id, {"id": 5, "name": "five"})
    assert stream.lag_ms(Progress(begun.at, begun.known, seen_ms=0)) > 1_000_000
    assert stream.head(begun).at == database.now()
