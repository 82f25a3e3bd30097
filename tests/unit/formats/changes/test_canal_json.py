"""Canal's changes → rows and what happened to them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from lakeward.errors import LakewardError
from lakeward.formats.door.registry import format_of
from lakeward.formats.port import DELETE, INSERT, UPDATE_AFTER, UPDATE_BEFORE
from lakeward.model.data_types import INT, STRING
from lakeward.model.schema import Schema

SCHEMA = Schema.of([("id", INT()), ("name", STRING()), ("n", INT())], primary_key=["id"])


def changes(*messages: dict[str, Any], **options: str) -> tuple[list[tuple[Any, ...]], dict[int, str]]:
    """(message, kind, id, name, n) of each change, and what is said of bad messages."""
    keys = {f"canal-json.{name}.include": value for name, value in options.items()}
    found = format_of("canal-json", SCHEMA, keys).decoder().decode([json.dumps(m).encode() for m in messages])
    assert found.kinds is not None
    rows = [tuple(row.values()) for row in found.rows.to_pylist()]
    heads = zip(found.indexes.to_pylist(), found.kinds.to_pylist(), strict=True)
    return [(*head, *row) for head, row in zip(heads, rows, strict=True)], {b.index: b.reason for b in found.bad}


def row(id_: str, name: str | None, n: str | None) -> dict[str, str | None]:
    """A row as Canal writes it: all values are texts."""
    return {"id": id_, "name": name, "n": n}


def test_a_message_holds_several_rows() -> None:
    """What was before an update is the row with what `old` names put back, NULL too."""
    found, bad = changes(
        {"type": "INSERT", "data": [row("1", "a", "1"), row("2", "b", None)], "old": None},
        {
            "type": "UPDATE",
            "data": [row("1", "A", None), row("2", None, "2")],
            "old": [{"name": "a", "n": "1"}, {"n": None}],
        },
        {"type": "ALTER", "isDdl": True, "data": None, "sql": "ALTER TABLE t ADD COLUMN x INT"},
        {"type": "UPDATE", "data": [row("5", "e", "5")], "old": [{"id": "4"}]},
        {"type": "DELETE", "data": [row("1", "A", None)]},
    )
    assert bad == {}
    assert found == [
        (0, INSERT, 1, "a", 1),
        (0, INSERT, 2, "b", None),
        (1, UPDATE_BEFORE, 1, "a", 1),
        (1, UPDATE_AFTER, 1, "A", None),
        (1, UPDATE_BEFORE, 2, None, None),
        (1, UPDATE_AFTER, 2, None, 2),
        (3, UPDATE_BEFORE, 4, "e", 5),
        (3, UPDATE_AFTER, 5, "e", 5),
        (4, DELETE, 1, "A", None),
    ]


def test_what_is_no_change_is_told() -> None:
    """Each message for itself, and its neighbours stay."""
    found, bad = changes(
        {"type": "UPSERT", "data": [row("1", "a", "1")]},
        {"type": "INSERT"},
        {"type": "UPDATE", "data": [row("1", "a", "1")], "old": []},
        {"type": "INSERT", "data": [row("1", "a", "x"), row("2", "b", "2")]},
        {"type": "UPDATE", "data": [row("3", "c", "3")], "old": [{"n": "2"}]},
        {"type": "CREATE"},
    )
    assert found == [(4, UPDATE_BEFORE, 3, "c", 2), (4, UPDATE_AFTER, 3, "c", 3)]
    assert bad == {
        0: "type 'UPSERT' is not known",
        1: "type 'INSERT' needs 'data', and there is none",
        2: "there are 1 rows in 'data' and 0 in 'old'",
        3: "column 'data[].n' of type INT cannot hold 'x'",
    }


def test_other_tables_can_be_left_out() -> None:
    """By regular expressions for the whole name."""
    insert = {"type": "INSERT", "data": [row("1", "a", "1")]}
    places = [("shop", "orders"), ("shop", "users"), ("other", "orders")]
    found, _ = changes(*(insert | {"database": d, "table": t} for d, t in places), database="shop", table="ord.*")
    assert [change[0] for change in found] == [0]
    with pytest.raises(LakewardError, match=r"canal-json\.table\.include"):
        changes(insert, table="(")
