"""Filters on the wire."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from lakeward.client.read.filter_message import filter_message
from lakeward.model.schema import Schema
from lakeward.model.type_text import parse_columns
from lakeward.model.values import Timestamp
from lakeward.protocol.codec import decode, encode_parts
from lakeward.protocol.messages.log import PbPredicate
from lakeward.records.batch.predicate import Compound, Function, Joint, Leaf, Predicate
from lakeward.server.tablet.log.filters import predicate_of

VALUES: dict[str, list[Any]] = {
    "BOOLEAN": [True],
    "TINYINT": [-128],
    "SMALLINT": [32767],
    "INT": [-(2**31)],
    "BIGINT": [2**63 - 1],
    "FLOAT": [1.5],
    "DOUBLE": [-0.1],
    "CHAR(3)": ["abc"],
    "STRING": ["grüße", ""],
    "DECIMAL(9, 2)": [Decimal("-1.20")],
    "DECIMAL(38, 0)": [Decimal(10**37), Decimal(-128), Decimal(128), Decimal(0)],
    "DATE": [-1],
    "TIME(3)": [86_399_999],
    "TIMESTAMP(6)": [Timestamp(-1, 999_000)],
    "TIMESTAMP_LTZ(9)": [Timestamp(5, 1)],
    "BYTES": [b"\x00\xff"],
}


@pytest.mark.parametrize(("type_", "values"), VALUES.items(), ids=str)
def test_every_type_of_literal_arrives(type_: str, values: list[Any]) -> None:
    """What the client sends the server understands, NULL included."""
    schema = Schema.of(parse_columns(f"other INT, c {type_}")[0])
    leaf = Leaf(Function.IN, schema.column("c").id, (*values, None))
    assert _crossed(leaf, schema) == leaf


def test_joined_predicates_arrive() -> None:
    """Nested as they were."""
    schema = Schema.of(parse_columns("a INT, b STRING")[0])
    one, other = Leaf(Function.IS_NULL, 0), Leaf(Function.STARTS_WITH, 1, ("x",))
    both = Compound(Joint.AND, (one, Compound(Joint.OR, (other, one))))
    assert _crossed(both, schema) == both


def _crossed(predicate: Predicate, schema: Schema) -> Predicate | None:
    parts = encode_parts(filter_message(predicate, schema))
    return predicate_of(decode(PbPredicate, b"".join(bytes(p) for p in parts)), schema)
