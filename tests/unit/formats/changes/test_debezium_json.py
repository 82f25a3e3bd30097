"""Debezium's changes → rows and what happened to them."""

from __future__ import annotations

import json
from typing import Any

import pyarrow as pa

from lakeward.formats.door.registry import format_of
from lakeward.formats.port import DELETE, INSERT, UPDATE_AFTER, UPDATE_BEFORE
from lakeward.model.data_types import BIGINT, DECIMAL, STRING
from lakeward.model.schema import Schema

SCHEMA = Schema.of([("id", BIGINT()), ("name", STRING().not_null()), ("price", DECIMAL(10, 2))], primary_key=["id"])
DECODER = format_of("debezium-json", SCHEMA, {}).decoder()
A, B = {"id": 1, "name": "a", "price": "1.50"}, {"id": 1, "name": "b", "price": 2.5, "extra": {"x": 1}}


def changes(*messages: dict[str, Any] | bytes | None) -> tuple[list[tuple[Any, ...]], dict[int, str]]:
    """(message, kind, id, name, price as text) of each change, and what is said of bad messages."""
    raw = [json.dumps(m).encode() if isinstance(m, dict) else m for m in messages]
    found = DECODER.decode(raw)
    assert found.kinds is not None
    found.rows.validate(full=True)
    rows = [(r["id"], r["name"], None if r["price"] is None else str(r["price"])) for r in found.rows.to_pylist()]
    heads = zip(found.indexes.to_pylist(), found.kinds.to_pylist(), strict=True)
    return [(*head, *row) for head, row in zip(heads, rows, strict=True)], {b.index: b.reason for b in found.bad}


def test_each_op_is_what_it_says() -> None:
    """An update is two rows, a snapshot's row an insert, a tombstone nothing."""
    found, bad = changes(
        {"before": None, "after": A, "op": "c", "ts_ms": 5},
        {"before": A, "after": B, "op": "u"},
        {"before": B, "after": None, "op": "d"},
        None,
        {"after": A, "op": "r"},
        {"op": "m", "message": {"prefix": "x"}},
    )
    assert bad == {}
    assert found == [
        (0, INSERT, 1, "a", "1.50"),
        (1, UPDATE_BEFORE, 1, "a", "1.50"),
        (1, UPDATE_AFTER, 1, "b", "2.50"),
        (2, DELETE, 1, "b", "2.50"),
        (4, INSERT, 1, "a", "1.50"),
    ]


def test_a_schema_around_the_change_is_seen() -> None:
    """Messages with and without it may be mixed."""
    inner = {"before": A, "after": B, "op": "u"}
    found, bad = changes({"schema": {"type": "struct"}, "payload": inner}, {"after": A, "op": "c"})
    assert bad == {}
    assert [row[:3] for row in found] == [(0, UPDATE_BEFORE, 1), (0, UPDATE_AFTER, 1), (1, INSERT, 1)]


def test_an_update_that_does_not_say_what_was_is_one_row() -> None:
    """As PostgreSQL's are by default; a delete has the key alone."""
    found, bad = changes({"before": None, "after": B, "op": "u"}, {"before": {"id": 7}, "op": "d"})
    assert bad == {}
    assert found == [(0, UPDATE_AFTER, 1, "b", "2.50"), (1, DELETE, 7, None, None)]


def test_what_is_no_change_is_told() -> None:
    """Each message for itself."""
    found, bad = changes(
        {"before": None, "after": None, "op": "d"},
        {"id": 1},
        {"op": "t"},
        {"op": "c", "after": {"id": None, "name": "a"}},
        {"op": "c", "after": {"id": 1}},
        {"op": "c", "after": {"id": "x", "name": "a"}},
        b"{",
        {"op": "c", "after": A},
    )
    assert [row[:2] for row in found] == [(7, INSERT)]
    assert bad[0] == "op 'd' needs 'before', and there is none"
    assert bad[1] == "there is no 'op': it is not a change of Debezium's"
    assert bad[2].startswith("op 't' says that the table was emptied")
    assert bad[3] == "column 'id' is NOT NULL, and an insert has no value for it"
    assert bad[4] == "column 'name' is NOT NULL, and an insert has no value for it"
    assert bad[5] == "column 'after.id' of type BIGINT cannot hold 'x'"
    assert bad[6].startswith("it is not JSON")


def test_what_is_written_is_read_again() -> None:
    """Inserts and deletes: an update is one of each."""
    made = format_of("debezium-json", SCHEMA, {})
    rows = DECODER.decode([json.dumps({"op": "c", "after": row}).encode() for row in (A, B)]).rows
    kinds = pa.array([UPDATE_BEFORE, UPDATE_AFTER], pa.uint8())
    messages = made.encoder().encode(rows, kinds)
    assert messages == [
        b'{"before":{"id":1,"name":"a","price":1.50},"after":null,"op":"d"}',
        b'{"before":null,"after":{"id":1,"name":"b","price":2.50},"op":"c"}',
    ]
    again = made.decoder().decode(messages)
    assert again.rows.equals(rows)
    assert again.kinds is not None
    assert again.kinds.to_pylist() == [DELETE, INSERT]
