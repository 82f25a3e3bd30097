"""Does a table that is there fit?"""

from __future__ import annotations

import pytest

from lakeward.model.schema import Column, Schema
from lakeward.model.type_text import parse_type
from lakeward.pipelines.fit import can_hold, misfits


@pytest.mark.parametrize(
    ("wide", "narrow", "holds"),
    [
        ("BIGINT", "INT", True),
        ("INT", "BIGINT", False),
        ("DECIMAL(20, 0)", "BIGINT", True),
        ("DECIMAL(10, 2)", "DECIMAL(9, 2)", True),
        ("DECIMAL(10, 2)", "DECIMAL(10, 3)", False),
        ("STRING", "CHAR(3)", True),
        ("CHAR(3)", "STRING", False),
        ("BYTES", "BINARY(2)", True),
        ("DOUBLE", "FLOAT", True),
        ("TIMESTAMP(6)", "TIMESTAMP(3)", True),
        ("TIMESTAMP(3)", "TIMESTAMP(6)", False),
        ("STRING", "INT", False),
        ("BOOLEAN", "BOOLEAN NOT NULL", True),
    ],
)
def test_a_type_holds_what_loses_nothing(wide: str, narrow: str, holds: bool) -> None:
    """Widening is fine, everything else is not."""
    assert can_hold(parse_type(wide), parse_type(narrow)) is holds


def test_a_sentence_for_each_column() -> None:
    """Key, missing columns, types, and columns for which nothing comes."""
    wanted = Schema.of([Column("id", parse_type("INT")), Column("a", parse_type("STRING"))], ["id"])
    there = Schema.of([Column("id", parse_type("TINYINT")), Column("n", parse_type("INT NOT NULL"))], ["id", "n"])
    assert misfits(wanted, there, may_add=False) == [
        "its primary key is (id, n), and would be (id)",
        "its column id is TINYINT NOT NULL, which cannot hold INT",
        "it has no column a STRING",
        "its column n must not be NULL, and nothing comes for it",
    ]
    assert misfits(wanted, wanted, may_add=False) == []


def test_the_order_of_key_columns_does_not_matter() -> None:
    """They name the same rows; a lake keeps them in the order of its columns."""
    columns = [Column("id", parse_type("INT NOT NULL")), Column("line", parse_type("INT NOT NULL"))]
    wanted, there = Schema.of(columns, ["line", "id"]), Schema.of(columns, ["id", "line"])
    assert misfits(wanted, there, may_add=False) == []
