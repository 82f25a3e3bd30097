"""Arrow columns and rows of bytes."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from row_strategies import rows, types, unhurried, values

from lakeward.model.data_types import BINARY, INT, STRING, TIME
from lakeward.model.schema import Schema
from lakeward.records.arrow.arrow_rows import array_of, arrow_to_rows, rows_to_arrow, values_of
from lakeward.records.arrow.arrow_types import arrow_schema
from lakeward.records.row import aligned_row, compacted_row, indexed_row


@st.composite
def columns(draw):
    """A type and some values of it."""
    type_ = draw(types)
    return type_, draw(st.lists(values(type_), max_size=6))


@unhurried
@given(columns(), st.integers(0, 3))
def test_columns_survive_a_round_trip(column, cut) -> None:
    """Every value of every type goes into Arrow and comes back, from slices too."""
    type_, expected = column
    array = array_of(expected, type_)
    array.validate(full=True)
    assert values_of(array, type_) == expected
    assert values_of(array.slice(cut), type_) == expected[cut:]


@pytest.mark.parametrize("codec", [compacted_row.CompactedRow, indexed_row.IndexedRow, aligned_row.AlignedRow])
@unhurried
@given(rows(max_size=4))
def test_batches_survive_a_round_trip_through_rows(codec, row) -> None:
    """Arrow to rows to Arrow is the same batch, for every row format."""
    own_types, own_values = row
    schema = Schema.of([(f"c{i}", t) for i, t in enumerate(own_types)])
    arrays = [array_of([v, None, v], t) for v, t in zip(own_values, own_types, strict=True)]
    batch = pa.RecordBatch.from_arrays(arrays, schema=arrow_schema(schema))
    encoded = arrow_to_rows(batch, schema, codec)
    assert rows_to_arrow(encoded, schema, codec(own_types)).equals(batch)


def test_no_rows_make_an_empty_batch() -> None:
    """The schema is there even without rows."""
    schema = Schema.of([("a", INT()), ("b", STRING())])
    batch = rows_to_arrow([], schema, compacted_row.CompactedRow([INT(), STRING()]))
    assert (batch.num_rows, batch.schema) == (0, arrow_schema(schema))


def test_short_binaries_are_filled_with_zeros() -> None:
    """A peer may store fewer bytes than BINARY(n) has; Arrow needs all of them."""
    assert array_of([b"ab"], BINARY(4)).to_pylist() == [b"ab\0\0"]


def test_times_are_cut_to_milliseconds() -> None:
    """A TIME has milliseconds whatever unit Arrow shows."""
    assert values_of(pa.array([1_234_567], pa.time64("us")), TIME(6)) == [1234]
