"""Events go into envelopes and come out as they were."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from lakeward.capture.envelope import ENVELOPES, change_kinds, change_words, open_envelope, seal
from lakeward.capture.port import ChangeKind, Event, SchemaChange, SchemaChangeKind, SourceTable, TableId, TableRows
from lakeward.model.data_types import BIGINT, STRING
from lakeward.model.schema import Schema
from lakeward.records.arrow.arrow_types import arrow_schema

USERS = SourceTable(TableId("shop", "users"), Schema.of([("id", BIGINT()), ("name", STRING())], ["id"]))
ROWS = pa.RecordBatch.from_pylist(
    [{"id": 1, "name": "Ada"}, {"id": 1, "name": None}, {"id": 2, "name": "Ben"}], arrow_schema(USERS.schema)
)
KINDS = pa.array([ChangeKind.UPDATE_BEFORE, ChangeKind.UPDATE_AFTER, ChangeKind.DELETE], pa.uint8())


def _open(row: dict[str, Any]) -> Event:
    return open_envelope(row["kind"], row["payload"], row["committed_ms"])


def test_rows_of_a_change_come_out_with_their_kinds_and_their_table() -> None:
    """Values, kinds, table and time survive."""
    (envelope,) = seal([TableRows(USERS, ROWS, KINDS, 1_700_000_000_000)])
    assert envelope.schema == ENVELOPES
    (row,) = envelope.to_pylist()
    assert (row["table"], row["kind"], row["rows"], row["committed_ms"]) == ("shop.users", "rows", 3, 1_700_000_000_000)
    event = _open(row)
    assert event == TableRows(USERS, ROWS, KINDS, 1_700_000_000_000)


def test_rows_of_a_snapshot_are_inserts() -> None:
    """Without kinds in, without kinds out; the payload says `insert`."""
    (envelope,) = seal([TableRows(USERS, ROWS)])
    (row,) = envelope.to_pylist()
    assert pa.ipc.open_stream(row["payload"]).read_all()["_change_type"].to_pylist() == ["insert"] * 3
    assert _open(row) == TableRows(USERS, ROWS)


@pytest.mark.parametrize(
    "event",
    [
        SchemaChange(SchemaChangeKind.CREATE, USERS.id, None, USERS),
        SchemaChange(SchemaChangeKind.TRUNCATE, USERS.id, USERS, USERS),
    ],
)
def test_schema_changes_come_out_as_they_went_in(event: Event) -> None:
    """Their payload is JSON, and they have no rows."""
    (envelope,) = seal([event])
    (row,) = envelope.to_pylist()
    assert (row["kind"], row["rows"], row["committed_ms"]) == ("schema", 0, None)
    assert _open(row) == event


def test_words_and_kinds_are_the_same_thing() -> None:
    """The four words, each for its number."""
    rows = TableRows(USERS, ROWS, KINDS)
    assert change_words(rows).to_pylist() == ["update_before", "update_after", "delete"]
    assert change_kinds(change_words(rows)) == KINDS
