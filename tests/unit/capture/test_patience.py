"""A database that is away for a while is asked again, and nothing comes twice."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from model_database import ModelDatabase, Replay

from lakeward.capture import patience
from lakeward.capture.patience import PatientDatabase
from lakeward.capture.port import Event, Position, SourceTable, TableId
from lakeward.capture.progress import Progress
from lakeward.errors import ErrorCode, LakewardError
from lakeward.model.data_types import INT
from lakeward.model.schema import Schema

TABLE = SourceTable(TableId("shop", "numbers"), Schema.of([("id", INT())], ["id"]))


class _Shaky:
    """A model whose connection breaks after so many changes, as often as it is told."""

    def __init__(self, model: ModelDatabase, breaks: list[int]) -> None:
        self._model = model
        self._breaks = breaks
        self.opened = 0

    def open(self) -> _Shaky:
        self.opened += 1
        return self

    def __getattr__(self, name: str) -> Any:
        return getattr(self._model, name)

    def now(self) -> Position:
        if self._breaks:
            self._breaks.pop()
            raise ErrorCode.NETWORK.error("The database at db:1 is away.")
        return self._model.now()

    def changes(self, start: Position, end: Position, known: Sequence[SourceTable]) -> Iterator[Event]:
        left = self._breaks.pop(0) if self._breaks else None
        for event in self._model.changes(start, end, known):
            if left == 0:
                raise ErrorCode.NETWORK.error("The connection broke.")
            left = None if left is None else left - 1
            yield event


def _model(rows: int) -> ModelDatabase:
    model = ModelDatabase()
    model.create(TABLE)
    for n in range(rows):
        model.put(TABLE.id, {"id": n})
    return model


def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patience.time, "sleep", lambda _: None)


def test_changes_go_on_where_the_connection_broke(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows that were handed out are skipped, three times over."""
    _quick(monkeypatch)
    model, replay = _model(10), Replay()
    shaky = _Shaky(model, [3, 0, 7])
    database = PatientDatabase(shaky.open, 60)
    for event in database.changes({"n": 0}, {"n": 11}, ()):
        replay.take(event)
    assert replay.rows == model.rows
    assert shaky.opened == 4


def test_a_question_is_asked_again_in_a_new_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    """And answered."""
    _quick(monkeypatch)
    shaky = _Shaky(_model(2), [1, 1])
    assert PatientDatabase(shaky.open, 60).now() == {"n": 3}
    assert shaky.opened == 3


def test_patience_has_an_end_and_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without any patience the first failure is the last."""
    _quick(monkeypatch)
    with pytest.raises(LakewardError, match="db:1 is away"):
        PatientDatabase(_Shaky(_model(0), [1] * 5).open, 0).now()


def test_what_cannot_be_mended_by_waiting_is_an_error_at_once() -> None:
    """Changes that the server does not have any more."""
    model = _model(3)
    model.release({"n": 2})
    shaky = _Shaky(model, [])
    with pytest.raises(LakewardError, match="was released"):
        list(PatientDatabase(shaky.open, 60).changes({"n": 0}, {"n": 3}, ()))
    assert shaky.opened == 1


def test_everything_else_is_passed_on() -> None:
    """It is a database like any other."""
    model = _model(5)
    database = PatientDatabase(_Shaky(model, []).open, 60)
    at = Progress().begin(database.begin(), database.tables(), 0, copies=True)
    assert (at.at, at.waiting) == ({"n": 6}, (TABLE.id,))
    chunks = database.chunks(TABLE, 3)
    assert sum(b.num_rows for chunk in chunks for b in database.read_chunk(TABLE, chunk, {"n": 6})) == 5
    assert database.limit({"n": 0}, {"n": 6}, 2) == {"n": 2}
    assert database.is_after({"n": 2}, {"n": 1})
    database.release({"n": 4})
    assert database.held_bytes() == 2
    database.drop()
    database.close()
