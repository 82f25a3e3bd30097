"""Tables and schema changes survive JSON."""

from __future__ import annotations

import json

from lakeward.capture.json_forms import (
    change_of_json,
    change_to_json,
    table_of_json,
    table_to_json,
)
from lakeward.capture.port import SchemaChange, SchemaChangeKind, SourceTable, TableId
from lakeward.model.data_types import BIGINT, DECIMAL, STRING
from lakeward.model.schema import Column, Schema

USERS = SourceTable(
    TableId("shop.eu", "users"),
    Schema.of([Column("id", BIGINT()), Column("name", STRING(), comment="as spoken")], ["id"]),
    "people",
    {"id": "bigint unsigned"},
    has_before=False,
)
MORE = SourceTable(USERS.id, Schema.of([("id", BIGINT()), ("full_name", STRING()), ("owes", DECIMAL(9, 2))], ["id"]))


def test_a_table_comes_back_with_key_comments_and_native_types() -> None:
    """Nothing of a table is lost, and a dot in a name stays where it is."""
    assert table_of_json(json.loads(json.dumps(table_to_json(USERS)))) == USERS
    assert table_of_json(json.loads(json.dumps(table_to_json(MORE)))) == MORE


def test_a_schema_change_comes_back_with_both_tables() -> None:
    """What was before, what is after, and which columns are the same."""
    renamed = SchemaChange(
        SchemaChangeKind.ALTER, USERS.id, USERS, MORE, {"name": "full_name"}, "ALTER TABLE users RENAME …"
    )
    for change in (renamed, SchemaChange(SchemaChangeKind.DROP, USERS.id, USERS)):
        assert change_of_json(json.loads(json.dumps(change_to_json(change)))) == change
