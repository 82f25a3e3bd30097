"""Pruning leaves out no row: whatever the type, the values, the bounds and the filter."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from lake_tables import Rounds, table_info
from pruned_columns import COLUMNS, PrunedColumn, filters, matches

from lakeward.client.read.filter_message import filter_message
from lakeward.lake.formats import lake_format
from lakeward.lake.iceberg.read.column_bounds import ColumnBounds
from lakeward.lake.iceberg.read.table_document import TableDocument
from lakeward.lake.iceberg.write.data_writer import Writing as IcebergWriting
from lakeward.lake.iceberg.write.data_writer import WrittenFiles as IcebergFiles
from lakeward.lake.paimon.read.file_bounds import FileBounds
from lakeward.lake.paimon.write.writing import Writing as PaimonWriting
from lakeward.lake.paimon.write.writing import WrittenFiles as PaimonFiles
from lakeward.lake.port import Bounds, LakePlace
from lakeward.lake.rows.system_columns import SYSTEM_FIELDS
from lakeward.model.schema import Column, Schema
from lakeward.query.lake.file_pruning import may_match
from lakeward.query.request import filters as filter_forms
from lakeward.query.request.filters import Filter
from lakeward.query.request.pushdown import to_predicate
from lakeward.records.arrow.arrow_statistics import collect
from lakeward.records.batch.predicate import batch_may_match
from lakeward.records.batch.statistics import STATISTICS_TYPES, encode_statistics
from lakeward.server.tablet.log.filters import predicate_of

_FILTERS = 12
_NANOS = 9
_PLACE = LakePlace(0)
by_type = pytest.mark.parametrize("column", COLUMNS, ids=lambda c: c.sql)
quickly = settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))


@st.composite
def _cases(draw: st.DrawFn, column: PrunedColumn) -> tuple[list[Any], list[Filter]]:
    values = draw(st.lists(column.values | st.none(), min_size=1, max_size=5))
    made = draw(st.lists(filters(column, "v", values), min_size=1, max_size=_FILTERS))
    return values, [filter_forms.of_json(filter_forms.to_json(one)) for one in made]


def _wanted(column: PrunedColumn, values: Sequence[Any], made: Sequence[Filter]) -> Iterator[Filter]:
    """The filters that some row passes."""
    return (f for f in made if any(matches(f, {"v": v}, column) for v in values))


@by_type
@quickly
@given(data=st.data())
def test_no_batch_of_the_log_with_a_matching_row_is_left_out(column: PrunedColumn, data: st.DataObject) -> None:
    """The server judges a batch by its statistics and a filter from the wire; a row that matches keeps it."""
    values, made = data.draw(_cases(column))
    schema = Schema.of([Column("v", column.type)])
    if column.type.root not in STATISTICS_TYPES:
        return
    batch = pa.record_batch([column.array(values)], ["v"])
    block = encode_statistics(collect(batch, schema, [0]), [column.type])
    for one in _wanted(column, values, made):
        predicate = to_predicate([one], schema)
        if predicate is not None:
            told = predicate_of(filter_message(predicate, schema), schema)
            assert told is not None
            assert batch_may_match(told, block, schema, len(values)), f"{one} leaves out {values}"


class _Bounds:
    """The bounds that a lake's table has of files, written by the writers of tiering."""

    def __init__(self, format_: str, warehouse: Path, column: PrunedColumn, *, keyed: bool) -> None:
        self._name = format_
        self._column = column
        sql = column.sql + (" NOT NULL" if keyed else "")
        self._info = table_info({"v": sql}, key="v" if keyed else "", buckets=1)
        self._rounds = Rounds(lake_format(format_), warehouse, self._info)

    def of(self, values: Sequence[Any]) -> Mapping[str, Bounds]:
        count = len(values)
        told = [pa.array(numbers, pa.int64()) for numbers in ([0] * count, range(count), [0] * count)]
        arrays = [self._column.array(values), *(a.cast(f.type) for a, f in zip(told, SYSTEM_FIELDS, strict=True))]
        names = ["v", *(f.name for f in SYSTEM_FIELDS)]
        if self._info.descriptor.has_primary_key:
            arrays.append(pa.array([1] * count, pa.int8()))
            names.append("_change_type")
        (writing,) = self._rounds.table.writing([_PLACE])
        writer = lake_format(self._name).writer(writing, _PLACE)
        writer.write(pa.record_batch(arrays, names))
        record = writer.finish().record
        return self._iceberg(record, writing) if self._name == "iceberg" else self._paimon(record, writing)

    def _iceberg(self, record: bytes, writing: bytes) -> Mapping[str, Bounds]:
        columns = TableDocument.of_json(
            IcebergWriting.of_bytes(writing).metadata_json.encode(), self._info.path
        ).columns
        (file,) = IcebergFiles.of_bytes(record, 0).data
        names = ("lower_bounds", "upper_bounds", "null_value_counts", "value_counts")
        return ColumnBounds(columns, ["v"]).of({name: getattr(file, name) for name in names})

    def _paimon(self, record: bytes, writing: bytes) -> Mapping[str, Bounds]:
        (entry,) = PaimonFiles.of_bytes(record).new
        return FileBounds(PaimonWriting.of_bytes(writing).shape, ["v"]).of(entry)


@pytest.mark.covering
@pytest.mark.parametrize(("format_", "keyed"), [("iceberg", False), ("paimon", False), ("paimon", True)])
@by_type
def test_no_file_of_a_lake_with_a_matching_row_is_left_out(
    column: PrunedColumn, format_: str, keyed: bool, tmp_path: Path
) -> None:
    """Bounds of files, as tiering writes them and readers take them, keep every file with a row that matches."""
    bounds = _Bounds(format_, tmp_path, column, keyed=keyed)

    @quickly
    @given(data=st.data())
    def check(data: st.DataObject) -> None:
        values, made = data.draw(_cases(column))
        if column.type.precision == _NANOS and format_ == "iceberg":
            values = [None if v is None else v // 1000 * 1000 for v in values]  # it takes no finer ones
        if keyed:
            values = list({repr(v): v for v in values if v is not None}.values())
        if not values:
            return
        known = bounds.of(values)
        for one in _wanted(column, values, made):
            assert may_match([one], known), f"{one} leaves out {values} by {known}"

    check()
