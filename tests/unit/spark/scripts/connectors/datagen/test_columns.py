"""Made-up columns: the same wherever one begins to read, and within their bounds."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lakeward.model.schema import Column, Schema
from lakeward.model.type_text import parse_type
from lakeward.spark.scripts.connectors.datagen.columns import make_batch
from lakeward.spark.scripts.connectors.datagen.draws import wide_line
from lakeward.spark.scripts.connectors.datagen.recipes import recipes_of
from lakeward.spark.table.spark_arrow import spark_arrow_schema

TYPES = {
    "id": "BIGINT",
    "tiny": "TINYINT",
    "text": "STRING",
    "short": "STRING",
    "flag": "BOOLEAN",
    "price": "DECIMAL(10, 2)",
    "wide": "DECIMAL(38, 3)",
    "single": "FLOAT",
    "part": "DOUBLE NOT NULL",
    "raw": "BINARY(3)",
    "day": "DATE",
    "hour": "TIME(0)",
    "at": "TIMESTAMP(3)",
    "zoned": "TIMESTAMP_LTZ(0)",
    "list": "ARRAY<INT NOT NULL>",
    "map": "MAP<INT, STRING>",
    "row": "ROW<a INT, b ARRAY<BOOLEAN>>",
}
OPTIONS = {
    "fields.id.kind": "sequence",
    "fields.id.start": "100",
    "fields.id.end": "100000",
    "fields.short.length": "5",
    "fields.short.var-len": "true",
    "fields.price.min": "-1.50",
    "fields.price.max": "1.50",
    "fields.part.min": "2",
    "fields.part.max": "3",
    "fields.at.max-past": "1 min",
    "fields.list.element.min": "1",
    "fields.list.element.max": "2",
    "fields.map.key.min": "1",
    "fields.map.key.max": "2",
    "fields.map.value.length": "1",
    "fields.row.a.null-rate": "0.5",
}
NOW_MS = 1_700_000_000_999
SCHEMA = Schema(tuple(Column(name, parse_type(type_)) for name, type_ in TYPES.items()))


def rows(first: int, end: int, seed: int = 1) -> pa.RecordBatch:
    """Rows by number."""
    recipes = recipes_of([(column.name, column.type) for column in SCHEMA.columns], OPTIONS)
    return make_batch(recipes, spark_arrow_schema(SCHEMA), seed, first, np.full(end - first, NOW_MS))


@given(st.integers(0, 90), st.integers(0, 10))
@settings(max_examples=25, deadline=None)
def test_a_row_is_the_same_wherever_one_begins(first: int, count: int) -> None:
    """Another seed makes others."""
    whole, part = rows(0, 100), rows(first, first + count)
    part.validate(full=True)
    assert part.equals(whole.slice(first, count))


def test_values_are_within_their_bounds() -> None:
    """And take all of them."""
    found = {name: column.to_pylist() for name, column in zip(TYPES, rows(0, 2000).columns, strict=True)}
    assert found["id"] == list(range(100, 2100))
    assert set(found["tiny"]) == set(range(-128, 128))
    assert {len(text) for text in found["text"]} == {100}
    assert {len(text) for text in found["short"]} == {1, 2, 3, 4, 5}
    assert (min(found["price"]), max(found["price"])) == (Decimal("-1.50"), Decimal("1.50"))
    assert max(map(abs, found["wide"])) > 10**34
    assert all(2 <= value < 3 for value in found["part"])
    assert {len(value) for value in found["raw"]} == {3}
    assert {str(value) for value in found["day"]} == {"2023-11-14"}
    assert {str(value) for value in found["hour"]} == {"22:13:20"}
    assert {value.second for value in found["at"]} == set(range(60))
    assert {value.microsecond for value in found["zoned"]} == {0}
    assert {tuple(value) for value in found["list"]} == {(a, b, c) for a in (1, 2) for b in (1, 2) for c in (1, 2)}
    assert {tuple(sorted(dict(value))) for value in found["map"]} == {(1,), (2,), (1, 2)}
    assert all(len(dict(value)) == len(value) for value in found["map"])
    nulls = sum(value["a"] is None for value in found["row"])
    assert 800 < nulls < 1200


def test_another_seed_makes_other_rows() -> None:
    """But for the sequence."""
    one, other = rows(0, 10), rows(0, 10, seed=2)
    assert one.column("id").equals(other.column("id"))
    assert not one.column("text").equals(other.column("text"))


@given(st.integers(0, 2**60), st.integers(-(10**38), 10**38), st.integers(1, 10**20))
def test_wide_numbers_are_exact(step_count: int, low: int, step: int) -> None:
    """128 bits, as Python counts."""
    lower, upper = (int(half) for half in wide_line(np.array([step_count], np.uint64), low, step)[0])
    assert lower + (upper << 64) == (low + step_count * step) % (1 << 128)


@pytest.mark.parametrize(
    ("type_", "values"),
    [("DECIMAL(5, 2)", [Decimal("7.00"), Decimal("8.00")]), ("STRING", ["7", "8"]), ("FLOAT", [7.0, 8.0])],
)
def test_sequences_of_other_types(type_: str, values: list[Any]) -> None:
    """A number in the column's type."""
    given = {"fields.x.kind": "sequence", "fields.x.start": "7", "fields.x.end": "8"}
    schema = Schema((Column("x", parse_type(type_)),))
    recipes = recipes_of([("x", parse_type(type_))], given)
    batch = make_batch(recipes, spark_arrow_schema(schema), 1, 0, np.zeros(2, np.int64))
    assert batch.column(0).to_pylist() == values
