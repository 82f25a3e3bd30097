"""Declared columns hold what the database has, or there is a sentence for each that does not."""

from __future__ import annotations

import pytest

from lakeward.capture.fitting import check_fit, fits
from lakeward.capture.port import SourceTable, TableId
from lakeward.errors import LakewardError
from lakeward.model.data_types import DataType
from lakeward.model.schema import Schema
from lakeward.model.type_text import parse_type


def _type(text: str) -> DataType:
    return parse_type(text)


@pytest.mark.parametrize(
    ("found", "declared"),
    [
        ("INT", "BIGINT"), ("TINYINT", "TINYINT"), ("INT", "DECIMAL(10, 0)"), ("DECIMAL(10, 2)", "DECIMAL(12, 3)"),
        ("CHAR(3)", "STRING"), ("CHAR(3)", "CHAR(4)"), ("BINARY(3)", "BYTES"), ("FLOAT", "DOUBLE"),
        ("TIMESTAMP(3)", "TIMESTAMP(6)"), ("TIME(0)", "TIME(3)"), ("DATE", "DATE"), ("ARRAY<INT>", "ARRAY<INT>"),
        ("INT NOT NULL", "INT"),
    ],
)  # fmt: skip
def test_wider_types_fit(found: str, declared: str) -> None:
    """No value is changed."""
    assert fits(_type(found), _type(declared))


@pytest.mark.parametrize(
    ("found", "declared"),
    [
        ("BIGINT", "INT"), ("BIGINT", "DECIMAL(18, 0)"), ("DECIMAL(10, 2)", "DECIMAL(10, 3)"), ("STRING", "CHAR(4)"),
        ("BYTES", "BINARY(3)"), ("DOUBLE", "FLOAT"), ("TIMESTAMP(6)", "TIMESTAMP(3)"), ("STRING", "INT"),
        ("TIMESTAMP(3)", "TIMESTAMP_LTZ(3)"), ("ARRAY<INT>", "ARRAY<BIGINT>"), ("DECIMAL(20, 0)", "BIGINT"),
    ],
)  # fmt: skip
def test_narrower_and_other_types_do_not(found: str, declared: str) -> None:
    """Values could be lost or changed."""
    assert not fits(_type(found), _type(declared))


def test_every_mismatch_is_told_at_once() -> None:
    """What the database calls the type, what it is here, and what to declare."""
    there = Schema.of([("id", _type("DECIMAL(20, 0)")), ("at", _type("TIMESTAMP(6)")), ("n", _type("INT"))], ["id"])
    table = SourceTable(TableId("shop", "orders"), there, native_types={"id": "bigint unsigned"})
    declared = Schema.of(
        [("id", _type("BIGINT")), ("at", _type("TIMESTAMP(3)")), ("n", _type("INT")), ("m", _type("INT"))]
    )
    with pytest.raises(LakewardError) as caught:
        check_fit(declared, table, "Table mysql_orders")
    assert caught.value.message == (
        "Table mysql_orders does not fit shop.orders of the database: column 'id' is bigint unsigned there,"
        " DECIMAL(20, 0), and BIGINT here: declare it DECIMAL(20, 0); column 'at' is TIMESTAMP(6) there, and"
        " TIMESTAMP(3) here: declare it TIMESTAMP(6); there is no column 'm' there (there are id, at, n)."
    )
    check_fit(Schema.of([("n", _type("BIGINT"))]), table, "Table mysql_orders")
