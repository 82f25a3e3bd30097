"""Statistics of Arrow batches."""

from __future__ import annotations

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st
from row_strategies import scalar_types, unhurried, values

from lakeward.model.data_types import CHAR, DOUBLE, TypeRoot
from lakeward.model.schema import Schema
from lakeward.records.arrow.arrow_rows import array_of
from lakeward.records.arrow.arrow_statistics import collect
from lakeward.records.arrow.arrow_types import arrow_schema
from lakeward.records.batch.statistics import STATISTICS_TYPES, ColumnStatistics

ordered_types = scalar_types.filter(lambda t: t.root in STATISTICS_TYPES - {TypeRoot.CHAR})


@unhurried
@given(ordered_types.flatmap(lambda t: st.tuples(st.just(t), st.lists(values(t), max_size=6))))
def test_ends_and_nulls_of_any_column(column) -> None:
    """The least and greatest value, and how many are NULL."""
    type_, rows = column
    schema = Schema.of([("c", type_)])
    batch = pa.RecordBatch.from_arrays([array_of(rows, type_)], schema=arrow_schema(schema))
    present = [r for r in rows if r is not None]
    (found,) = collect(batch, schema, [0])
    assert found.null_count == len(rows) - len(present)
    assert (found.minimum, found.maximum) == ((min(present), max(present)) if present else (None, None))


def test_columns_without_order_have_no_ends() -> None:
    """A NaN, or CHAR, leaves minimum and maximum unknown, so that nothing is skipped."""
    schema = Schema.of([("d", DOUBLE()), ("c", CHAR(3))])
    batch = pa.record_batch([pa.array([1.0, float("nan")]), pa.array(["a", None])], schema=arrow_schema(schema))
    assert collect(batch, schema, [1, 0]) == [ColumnStatistics(1, 1, None, None), ColumnStatistics(0, 0, None, None)]
