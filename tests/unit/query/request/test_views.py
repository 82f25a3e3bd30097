"""Names and schemas of views."""

from __future__ import annotations

import pytest

from lakeward.errors import LakewardError
from lakeward.model.schema import Schema
from lakeward.model.table import TablePath
from lakeward.model.type_text import parse_columns
from lakeward.query.request.views import View, parse_name, view_name, view_schema


@pytest.mark.parametrize(
    ("text", "path", "view"),
    [
        ("shop.orders", TablePath("shop", "orders"), View.ROWS),
        ("orders", TablePath("fluss", "orders"), View.ROWS),
        ("shop.orders$changelog", TablePath("shop", "orders"), View.CHANGELOG),
        ("shop.orders$lake", TablePath("shop", "orders"), View.LAKE),
        ("shop.orders$binlog", TablePath("shop", "orders"), View.BINLOG),
    ],
)
def test_names_say_the_view(text: str, path: TablePath, view: View) -> None:
    """As in Apache Fluss, behind a dollar sign."""
    assert parse_name(text) == (path, view)
    assert parse_name(view_name(path, view)) == (path, view)


@pytest.mark.parametrize("text", ["shop.orders$", "shop.orders$rows", "shop.orders$Lake"])
def test_other_views_do_not_exist(text: str) -> None:
    """The error names those that do."""
    with pytest.raises(LakewardError, match=r"shop\.orders\$changelog and shop\.orders\$binlog"):
        parse_name(text)


def test_schemas_of_views() -> None:
    """What happened, where and when, and then the table's columns, or two rows of them."""
    columns, key = parse_columns("id BIGINT NOT NULL, name STRING")
    schema = Schema.of(columns, key)
    told = [
        "_change_type STRING NOT NULL",
        "_log_offset BIGINT NOT NULL",
        "_commit_timestamp TIMESTAMP_LTZ(3) NOT NULL",
    ]
    assert view_schema(schema, View.ROWS) is schema
    assert _texts(view_schema(schema, View.CHANGELOG)) == [*told, "id BIGINT NOT NULL", "name STRING"]
    row = "ROW<id BIGINT NOT NULL, name STRING>"
    assert _texts(view_schema(schema, View.BINLOG)) == [*told, f"before {row}", f"after {row}"]


def _texts(schema: Schema) -> list[str]:
    return [f"{c.name} {c.type}" for c in schema.columns]
