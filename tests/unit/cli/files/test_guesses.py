"""Types guessed from rows."""

from __future__ import annotations

import pyarrow as pa

from lakeward.cli.files.guesses import widen_schema


def test_nanoseconds_are_kept_only_where_they_are_used() -> None:
    """A time with six digits becomes a microsecond column, one with nine stays."""
    found = pa.table({"a": pa.array([1000], pa.timestamp("ns")), "b": pa.array([1], pa.timestamp("ns"))})
    assert widen_schema(found).types == [pa.timestamp("us"), pa.timestamp("ns")]


def test_a_column_without_values_is_text() -> None:
    """Anything can be written as text later."""
    assert widen_schema(pa.table({"a": pa.nulls(2), "b": pa.array([[None], None], pa.list_(pa.null()))})).types == [
        pa.string(),
        pa.list_(pa.string()),
    ]
