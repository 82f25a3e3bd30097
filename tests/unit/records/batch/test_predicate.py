"""Which batches a filter may skip."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakeward.model.data_types import INT, STRING
from lakeward.model.schema import Schema
from lakeward.records.batch.predicate import Compound, Function, Joint, Leaf, batch_may_match, may_match
from lakeward.records.batch.statistics import ColumnStatistics, encode_statistics

F = Function
NAN = float("nan")


def kept(function, *literals, low=10, high=20, nulls=0, rows=100) -> bool:
    """Whether a batch with these statistics is kept."""
    return may_match(Leaf(function, 7, literals), {7: ColumnStatistics(0, nulls, low, high)}, rows)


@pytest.mark.parametrize(
    ("function", "literal", "expected"),
    [
        (F.EQUAL, 9, False), (F.EQUAL, 10, True), (F.EQUAL, 20, True), (F.EQUAL, 21, False),
        (F.NOT_EQUAL, 10, True), (F.NOT_EQUAL, 99, True),
        (F.LESS_THAN, 10, False), (F.LESS_THAN, 11, True),
        (F.LESS_OR_EQUAL, 9, False), (F.LESS_OR_EQUAL, 10, True),
        (F.GREATER_THAN, 20, False), (F.GREATER_THAN, 19, True),
        (F.GREATER_OR_EQUAL, 21, False), (F.GREATER_OR_EQUAL, 20, True),
    ],
)  # fmt: skip
def test_comparisons(function, literal, expected) -> None:
    """A batch from 10 to 20 is kept where a row of it could match."""
    assert kept(function, literal) is expected


def test_batches_of_one_value() -> None:
    """Only when all rows have the value can its opposite be skipped."""
    assert not kept(F.NOT_EQUAL, 5, low=5, high=5)
    assert not kept(F.NOT_IN, 4, 5, low=5, high=5)
    assert kept(F.NOT_IN, 4, 5, low=4, high=5)


def test_lists_of_literals() -> None:
    """One literal within the range keeps the batch."""
    assert kept(F.IN, 1, 15, 99)
    assert not kept(F.IN, 1, 99)
    assert not kept(F.IN, None)
    assert not kept(F.NOT_IN, 1, None)


def test_nulls() -> None:
    """NULL counts answer questions about NULL, and all-NULL batches match no comparison."""
    assert kept(F.IS_NULL, nulls=1)
    assert not kept(F.IS_NULL, nulls=0)
    assert kept(F.IS_NOT_NULL, nulls=99)
    assert not kept(F.IS_NOT_NULL, nulls=100, low=None, high=None)
    assert not kept(F.EQUAL, 15, nulls=100, low=None, high=None)
    assert not kept(F.EQUAL, None)


def test_text() -> None:
    """Prefixes prune by range; other searches in text never do."""
    assert kept(F.STARTS_WITH, "ap", low="apple", high="banana")
    assert kept(F.STARTS_WITH, "b", low="apple", high="banana")
    assert not kept(F.STARTS_WITH, "c", low="apple", high="banana")
    assert not kept(F.STARTS_WITH, "a", low="b", high="c")
    assert kept(F.CONTAINS, "zzz", low="a", high="b")
    assert kept(F.END_WITH, "zzz", low="a", high="b")


@pytest.mark.parametrize(
    "doubt",
    [
        lambda: kept(F.EQUAL, 99, low=None),
        lambda: kept(F.IS_NULL, low=None),
        lambda: kept(F.EQUAL, "text"),
        lambda: kept(F.EQUAL),
        lambda: kept(F.EQUAL, NAN, low=1.0, high=2.0),
        lambda: kept(F.EQUAL, 5.0, low=NAN, high=NAN),
        lambda: kept(F.EQUAL, Decimal("NaN"), low=Decimal(1), high=Decimal(2)),
        lambda: kept(F.LESS_THAN, 0.0, low=-0.0, high=0.0),
        lambda: kept(F.EQUAL, 99, nulls=101),
        lambda: kept(F.EQUAL, 99, nulls=-1),
        lambda: kept(F.STARTS_WITH, "a", low=1, high=2),
        lambda: may_match(Leaf(F.EQUAL, 8, (99,)), {}, 100),
        lambda: may_match(Compound(Joint.OR, ()), {}, 100),
    ],
)
def test_doubt_keeps_the_batch(doubt) -> None:
    """Missing or odd statistics and literals never lose a row."""
    assert doubt()


def test_joints() -> None:
    """AND is skipped when one part cannot match, OR when none can."""
    statistics = {7: ColumnStatistics(0, 0, 10, 20)}
    never, maybe, unknown = Leaf(F.EQUAL, 7, (1,)), Leaf(F.EQUAL, 7, (15,)), Leaf(F.EQUAL, 8, (1,))
    assert not may_match(Compound(Joint.AND, (maybe, never)), statistics, 5)
    assert may_match(Compound(Joint.AND, (maybe, unknown)), statistics, 5)
    assert may_match(Compound(Joint.OR, (never, maybe)), statistics, 5)
    assert not may_match(Compound(Joint.OR, (never, never)), statistics, 5)
    assert may_match(Compound(Joint.OR, (never, unknown)), statistics, 5)


def test_columns_are_found_by_id_in_the_batch_schema() -> None:
    """A batch of an older schema is asked by column id, not by position."""
    schema = Schema.of([("a", STRING()), ("b", INT())])
    block = encode_statistics([ColumnStatistics(1, 0, 10, 20)], [c.type for c in schema.columns])
    column_id = schema.column("b").id
    assert not batch_may_match(Leaf(F.EQUAL, column_id, (99,)), block, schema, 3)
    assert batch_may_match(Leaf(F.EQUAL, column_id, (15,)), memoryview(block), schema, 3)
    assert batch_may_match(Leaf(F.EQUAL, schema.column("a").id, ("x",)), block, schema, 3)


@pytest.mark.parametrize("block", [b"", b"\x09", b"\x01\x01\x00\x00\x00", b"\x01\x05\x00" + b"\xff" * 40])
def test_missing_or_damaged_statistics_keep_the_batch(block: bytes) -> None:
    """What cannot be read says nothing."""
    assert batch_may_match(Leaf(F.EQUAL, 0, (99,)), block, Schema.of([("a", INT())]), 3)


@given(st.lists(st.none() | st.integers(-9, 9), min_size=1), st.sampled_from(list(F)[:6]), st.integers(-10, 10))
def test_no_matching_row_is_ever_skipped(rows, function, literal) -> None:
    """Whatever the rows, a batch with a matching row is kept."""
    present = [r for r in rows if r is not None]
    tests = {
        F.EQUAL: lambda r: r == literal, F.NOT_EQUAL: lambda r: r != literal, F.LESS_THAN: lambda r: r < literal,
        F.LESS_OR_EQUAL: lambda r: r <= literal, F.GREATER_THAN: lambda r: r > literal,
        F.GREATER_OR_EQUAL: lambda r: r >= literal,
    }  # fmt: skip
    low, high = (min(present), max(present)) if present else (None, None)
    answer = kept(function, literal, low=low, high=high, nulls=len(rows) - len(present), rows=len(rows))
    if any(tests[function](r) for r in present):
        assert answer
