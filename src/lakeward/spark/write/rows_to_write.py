"""RowsToWrite: a DataFrame's columns matched with those of the table they go to, before the first row is written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import pyarrow as pa

from lakeward.client.forms.new_columns import NewColumns
from lakeward.errors import ErrorCode, InvalidError
from lakeward.model.data_types import TypeRoot
from lakeward.model.schema import Schema
from lakeward.model.table import TableInfo, TablePath
from lakeward.options.spark import SINK_CHANGE_TYPE, SINK_COLUMNS, SINK_CUT_TIMES
from lakeward.query.request.views import View
from lakeward.records.arrow.arrow_types import arrow_type
from lakeward.records.arrow.coarser_columns import coarser
from lakeward.spark.table.chosen_table import ChosenTable, SparkColumns, columns_of
from lakeward.spark.table.spark_arrow import from_spark, spark_arrow_schema

STREAM_WRITES_NULL = (
    "This stream has no such column and writes NULL there: to write it, stop the query and start it again with the "
    "column in its DataFrame, from the same checkpoint."
)
_NEW_COLUMNS = NewColumns()
_TIMES = {TypeRoot.TIMESTAMP, TypeRoot.TIMESTAMP_LTZ}


@dataclass(frozen=True)
class RowsToWrite:
    """What is written where. `schema` is what of the table is written; `columns` is None unless it is a part of it."""

    options: dict[str, str]
    path: TablePath
    info: TableInfo
    schema: Schema
    columns: tuple[str, ...] | None
    change_type_column: str | None

    @classmethod
    def of(cls, options: dict[str, str], given: SparkColumns) -> Self:
        """Match the columns; refuses those that do not fit, with table and column."""
        chosen = ChosenTable.of(options)
        if chosen.view is not View.ROWS:
            raise ErrorCode.INVALID_TABLE.error(
                f"'{chosen.path}${chosen.view}' shows the changes of table {chosen.path} and cannot be written to."
            )
        table = chosen.info.schema
        columns, change_type = SINK_COLUMNS.read(options), SINK_CHANGE_TYPE.read(options)
        if (columns or change_type) and not table.primary_key:
            name = SINK_COLUMNS.key if columns else SINK_CHANGE_TYPE.key
            raise ErrorCode.NON_PRIMARY_KEY_TABLE.error(
                f"The option '{name}' is for tables with a primary key, and table {chosen.path} has none."
            )
        rows = cls(options, chosen.path, chosen.info, _part(chosen, columns), columns, change_type)
        rows._check(columns_of(given))
        return rows

    def fit(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Spark's rows in the table's types; the column that says the change type is kept beside them."""
        with_type = self.change_type_column
        if with_type is None:
            return self._fit(batch)
        kinds = batch.column(with_type)
        rows = self._fit(batch.drop_columns([with_type]))
        return rows.append_column(with_type, kinds)

    def _fit(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """What of the rows is written; Spark fills columns that a statement does not name with NULL."""
        if self.columns is not None:
            unnamed = [n for n in batch.schema.names if n in self.info.schema.names and n not in self.columns]
            batch = batch.drop_columns(unnamed)
        if SINK_CUT_TIMES.read(self.options):
            batch = self._cut_times(batch)
        try:
            return from_spark(batch, self.schema)
        except InvalidError as wrong:
            raise wrong.code.error(f"Table {self.path}: {wrong}") from None

    def _cut_times(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Times as coarse as their columns. Where keys are taken back they stay: two of them could become one."""
        kept = self.schema.primary_key if self.change_type_column is not None else ()
        for number, field in enumerate(batch.schema):
            if pa.types.is_timestamp(field.type) and field.name in self.schema.names and field.name not in kept:
                declared = self.schema.column(field.name).type
                if declared.root in _TIMES and field.type != (wanted := arrow_type(declared)):
                    zone = pa.timestamp(wanted.unit, field.type.tz)
                    batch = batch.set_column(number, pa.field(field.name, zone), coarser(batch.column(number), zone))
        return batch

    def _check(self, given: Schema) -> None:
        if self.change_type_column is not None and self.change_type_column not in given.names:
            raise ErrorCode.INVALID_TARGET_COLUMN.error(
                f"The DataFrame has no column '{self.change_type_column}', which is to say the change types; its"
                f" columns are {', '.join(given.names)}."
            )
        absent = [name for name in self.schema.names if name not in given.names]
        if absent and self.info.schema.primary_key:
            raise ErrorCode.INVALID_TARGET_COLUMN.error(
                f"The DataFrame lacks columns that are to be written to table {self.path}: {', '.join(absent)}. A row"
                f" replaces the old one of its key; to write some columns only, name them in '{SINK_COLUMNS.key}'."
            )
        arrow = spark_arrow_schema(given)
        self.fit(pa.RecordBatch.from_arrays([pa.nulls(0, f.type) for f in arrow], schema=arrow))


def tell_of_new_columns(stream: str, rows: RowsToWrite, given: Sequence[str]) -> None:
    """Warn, once, when the table has got columns that a stream does not write."""
    _NEW_COLUMNS.look(stream, rows.path, rows.info.schema.names, given, STREAM_WRITES_NULL)


def _part(chosen: ChosenTable, columns: tuple[str, ...] | None) -> Schema:
    table = chosen.info.schema
    if columns is None:
        return table
    unknown = [name for name in columns if name not in table.names]
    missing = [name for name in table.primary_key if name not in columns]
    if unknown or missing:
        what = f"there is no {', '.join(unknown)}" if unknown else f"the primary key's {', '.join(missing)} is missing"
        raise ErrorCode.INVALID_TARGET_COLUMN.error(
            f"The option '{SINK_COLUMNS.key}' does not fit table {chosen.path}: {what}; its columns are"
            f" {', '.join(table.names)}."
        )
    return table.select(columns)
