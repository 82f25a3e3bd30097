"""Which columns must not be NULL, and what is said of a row that has one there."""

from __future__ import annotations

import pytest

from lakeward.errors import ErrorCode
from lakeward.model import data_types as t
from lakeward.model.schema import Schema
from lakeward.model.table import TablePath
from lakeward.storage.kv.merge.null_rules import null_error, required_columns, unreadable_row

PATH = TablePath("shop", "orders")
SCHEMA = Schema.of([("note", t.STRING()), ("id", t.INT()), ("price", t.INT().not_null()), ("tag", t.INT())], ["id"])


def test_keys_and_not_null_columns_are_required() -> None:
    """A bit for each, the first column's the lowest."""
    assert required_columns(SCHEMA) == 0b0110
    assert required_columns(Schema.of([("a", t.INT()), ("b", t.INT())])) == 0


@pytest.mark.parametrize(
    ("nulls", "said"),
    [(0b0010, "'id', which is part of the primary key"), (0b0100, "'price', which is NOT NULL"), (0b0110, "'id'")],
)
def test_the_first_column_at_fault_is_named(nulls: int, said: str) -> None:
    """With the reason why it must not be NULL, and as an error that no client sends again."""
    wrong = null_error(PATH, SCHEMA, nulls)
    assert wrong.code is ErrorCode.INVALID_TARGET_COLUMN
    assert "shop.orders" in wrong.message
    assert said in wrong.message


def test_an_unreadable_row_names_its_schema() -> None:
    """And says what was wrong with it."""
    wrong = unreadable_row(PATH, 3, "it is too short")
    assert wrong.code is ErrorCode.INVALID_TARGET_COLUMN
    assert "schema 3: it is too short." in wrong.message
