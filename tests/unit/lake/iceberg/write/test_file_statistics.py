"""What a manifest says of a file is what pyiceberg would say of it."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from itertools import count
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyiceberg import types as ice
from pyiceberg.io.pyarrow import (
    compute_statistics_plan,
    data_file_statistics_from_parquet_metadata,
    parquet_path_to_id_mapping,
)
from pyiceberg.schema import Schema

from lakeward.lake.iceberg.schema.types import FileRows
from lakeward.lake.iceberg.write.file_statistics import FileStatistics

_UTC = dt.UTC
VALUES: dict[ice.IcebergType, list[Any]] = {
    ice.BooleanType(): [True, None, False],
    ice.IntegerType(): [-5, None, 7],
    ice.LongType(): [1 << 40, -3, None],
    ice.FloatType(): [0.5, None, -2.25],
    ice.DoubleType(): [float("inf"), -0.0, None],
    ice.DateType(): [dt.date(1969, 1, 1), None, dt.date(9999, 12, 31)],
    ice.TimeType(): [dt.time(1, 2, 3, 4), None, dt.time(0)],
    ice.TimestampType(): [dt.datetime(1, 1, 1), None, dt.datetime(2026, 1, 1, 1, 1, 1, 7)],
    ice.TimestamptzType(): [dt.datetime(1900, 1, 1, tzinfo=_UTC), None, dt.datetime(2026, 1, 1, tzinfo=_UTC)],
    ice.StringType(): ["a text of more than sixteen letters", None, "ü" * 20],
    ice.BinaryType(): [b"\xff" * 20, None, b"bytes, more than sixteen of them"],
    ice.DecimalType(9, 2): [Decimal("-1.05"), None, Decimal("99.99")],
    ice.DecimalType(18, 0): [Decimal(10**17), None, Decimal(-1)],
    ice.DecimalType(38, 10): [Decimal("-0.5"), None, Decimal(10**20)],
    ice.UUIDType(): [None, None, None],
}
_ids = count(1)
SCHEMA = Schema(
    *(ice.NestedField(next(_ids), f"c{n}", kind) for n, kind in enumerate(VALUES)),
    ice.NestedField(next(_ids), "list", ice.ListType(next(_ids), ice.LongType(), element_required=False)),
    ice.NestedField(
        next(_ids), "row", ice.StructType(ice.NestedField(next(_ids), "deep", ice.StringType(), required=False))
    ),
    ice.NestedField(next(_ids), "map", ice.MapType(next(_ids), ice.StringType(), next(_ids), ice.DateType())),
    ice.NestedField(next(_ids), "last", ice.IntegerType()),
)
ROWS = [
    {f"c{n}": values[at] for n, values in enumerate(VALUES.values())}
    | {"list": [at, None], "row": {"deep": "x"}, "map": {"k": dt.date(2026, 1, 1)}, "last": at}
    for at in range(3)
]


def footer_of(rows: list[dict[str, Any]], schema: Schema = SCHEMA, group_rows: int = 2) -> Any:
    """Of a file with these rows, two in a row group."""
    sink = pa.BufferOutputStream()
    table = pa.Table.from_pylist(rows, FileRows(schema).schema)
    pq.write_table(table, sink, row_group_size=group_rows, store_decimal_as_integer=True)
    return pq.read_metadata(pa.BufferReader(sink.getvalue()))


@pytest.mark.parametrize(
    "properties",
    [
        {},
        {"write.metadata.metrics.default": "full"},
        {"write.metadata.metrics.default": "counts", "write.metadata.metrics.column.c9": "truncate(3)"},
        {"write.metadata.metrics.default": "none", "write.metadata.metrics.column.c10": "truncate(1)"},
    ],
)
def test_it_says_what_pyiceberg_says(properties: dict[str, str]) -> None:
    """Of every type, of nested columns, of several row groups, however much was asked for."""
    for rows in (ROWS, ROWS[:1], [dict.fromkeys(ROWS[0])]):
        footer = footer_of(rows)
        theirs = data_file_statistics_from_parquet_metadata(
            parquet_metadata=footer,
            stats_columns=compute_statistics_plan(SCHEMA, properties),
            parquet_column_mapping=parquet_path_to_id_mapping(SCHEMA),
        )
        assert FileStatistics(SCHEMA, properties).of(footer) == theirs.to_serialized_dict()


def test_what_python_cannot_name_has_no_bounds() -> None:
    """Readers in Python fail where they are shown such a bound; the rows are there all the same."""
    schema = Schema(
        ice.NestedField(1, "day", ice.DateType()),
        ice.NestedField(2, "moment", ice.TimestampType()),
        ice.NestedField(3, "text", ice.StringType()),
    )
    table = pa.table([pa.array([3_000_000], pa.int32()), pa.array([-(1 << 60)]), pa.array(["\ud7ff"])], ["d", "m", "t"])
    rows = pa.Table.from_arrays(
        [column.cast(type_) for column, type_ in zip(table.columns, FileRows(schema).schema.types, strict=True)],
        schema=FileRows(schema).schema,
    )
    sink = pa.BufferOutputStream()
    pq.write_table(rows, sink)
    told = FileStatistics(schema, {}).of(pq.read_metadata(pa.BufferReader(sink.getvalue())))
    assert told["lower_bounds"] == told["upper_bounds"] == {}
    assert told["null_value_counts"] == {1: 0, 2: 0, 3: 0}
