"""MessageRows: lists of messages → batches in the columns of a table; those that cannot be read are told apart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from lakeward.formats.port import BadMessage, Decoded
from lakeward.language.changes import CHANGE_TYPE
from lakeward.model.schema import Schema
from lakeward.spark.ingest.kafka.ground import kafka_options as rows
from lakeward.spark.ingest.kafka.messages.message_columns import metadata_column
from lakeward.spark.ingest.kafka.messages.table_shape import TableShape
from lakeward.spark.table.spark_arrow import spark_arrow_schema, to_spark

#: By ChangeKind.
_CHANGES = pa.array([None, "insert", "update_before", "update_after", "delete"])
_UPSERT, _DELETE = 3, 4


@dataclass(frozen=True, slots=True)
class _Part:
    """Decoded rows in Spark's types: by column, with the message that each came from."""

    columns: dict[str, pa.Array]
    indexes: NDArray[np.int64]
    kinds: pa.Array | None


class MessageRows:
    """Reads messages of one table."""

    def __init__(self, shape: TableShape) -> None:
        self._shape = shape
        self._value = shape.value_decoder()
        self._key = shape.key_decoder()
        nullable = [(column.name, column.type.as_nullable()) for column in shape.columns]
        self.schema = spark_arrow_schema(Schema.of(nullable))
        self._error_column = rows.ERROR_COLUMN.read(shape.options)

    def read(self, messages: Sequence[Any]) -> tuple[pa.RecordBatch, Sequence[BadMessage]]:
        """Rows, and what is wrong with the messages that gave none."""
        if self._value is None:
            columns = [metadata_column(self._shape.metadata[f.name], messages, f.type) for f in self.schema]
            return pa.RecordBatch.from_arrays(columns, schema=self.schema), ()
        values = [message.value() for message in messages]
        decoded = self._value.decode(values)
        part, bad = self._part(decoded), list(decoded.bad)
        if self._key is not None:
            part, bad = self._with_keys(part, bad, messages, values)
        batch = self._batch(part, messages)
        if bad and self._error_column is not None:
            batch = pa.concat_batches([batch, self._bad_rows(bad)])
        return batch, bad

    def _part(self, decoded: Decoded) -> _Part:
        target = pa.schema([self.schema.field(name) for name in decoded.rows.schema.names])
        batch = to_spark(decoded.rows, target)
        columns = dict(zip(target.names, batch.columns, strict=True))
        return _Part(columns, decoded.indexes.to_numpy(), decoded.kinds)

    def _with_keys(
        self, part: _Part, bad: list[BadMessage], messages: Sequence[Any], values: Sequence[bytes | None]
    ) -> tuple[_Part, list[BadMessage]]:
        """Columns of the key beside those of the value, which wins where both have one."""
        assert self._key is not None
        keys = self._key.decode([message.key() for message in messages])
        known = {one.index for one in bad}
        bad += [BadMessage(b.index, f"its key: {b.reason}") for b in keys.bad if b.index not in known]
        target = [self.schema.field(name) for name in self._shape.key]
        fields = [pa.field(name, f.type) for name, f in zip(keys.rows.schema.names, target, strict=True)]
        key_rows = to_spark(keys.rows, pa.schema(fields))
        place = np.full(len(messages), -1, np.int64)
        place[keys.indexes.to_numpy()] = np.arange(len(keys.indexes))
        if keys.bad:
            wrong = np.zeros(len(messages), bool)
            wrong[[one.index for one in keys.bad]] = True
            part = _filter(part, ~wrong[part.indexes])
        deleted = np.zeros(0, np.int64)
        if self._shape.is_upsert:
            gone = np.fromiter((value is None for value in values), bool, len(values))
            deleted = np.flatnonzero(gone & (place >= 0))
        indexes = np.concatenate([part.indexes, deleted])
        taken = pa.array(place[indexes], mask=place[indexes] < 0)
        columns = {name: _and_nulls(column, len(deleted)) for name, column in part.columns.items()}
        for name, column in zip(self._shape.key, key_rows.columns, strict=True):
            if name not in columns or self._shape.is_upsert:
                columns[name] = column.take(taken)
        kinds = part.kinds
        if self._shape.is_upsert:
            kinds = pa.array(np.repeat([_UPSERT, _DELETE], [len(part.indexes), len(deleted)]).astype(np.uint8))
        return _in_order(_Part(columns, indexes, kinds)), bad

    def _batch(self, part: _Part, messages: Sequence[Any]) -> pa.RecordBatch:
        is_whole = np.array_equal(part.indexes, np.arange(len(messages)))
        columns = []
        for field in self.schema:
            if field.name in part.columns:
                columns.append(part.columns[field.name])
            elif field.name in self._shape.metadata:
                found = metadata_column(self._shape.metadata[field.name], messages, field.type)
                columns.append(found if is_whole else found.take(pa.array(part.indexes)))
            elif field.name == CHANGE_TYPE and part.kinds is not None:
                columns.append(_CHANGES.take(part.kinds))
            elif field.name == CHANGE_TYPE:
                columns.append(pa.repeat("insert", len(part.indexes)))
            else:
                columns.append(pa.nulls(len(part.indexes), field.type))
        return pa.RecordBatch.from_arrays(columns, schema=self.schema)

    def _bad_rows(self, bad: Sequence[BadMessage]) -> pa.RecordBatch:
        reasons = pa.array([one.reason for one in bad], pa.string())
        columns = [reasons if f.name == self._error_column else pa.nulls(len(bad), f.type) for f in self.schema]
        return pa.RecordBatch.from_arrays(columns, schema=self.schema)


def _filter(part: _Part, keep: NDArray[np.bool_]) -> _Part:
    mask = pa.array(keep)
    columns = {name: column.filter(mask) for name, column in part.columns.items()}
    return _Part(columns, part.indexes[keep], None if part.kinds is None else part.kinds.filter(mask))


def _and_nulls(column: pa.Array, count: int) -> pa.Array:
    return pa.concat_arrays([column, pa.nulls(count, column.type)]) if count else column


def _in_order(part: _Part) -> _Part:
    order = np.argsort(part.indexes, kind="stable")
    if (order == np.arange(len(order))).all():
        return part
    taken = pa.array(order)
    columns = {name: column.take(taken) for name, column in part.columns.items()}
    kinds = None if part.kinds is None else pc.take(part.kinds, taken)
    return _Part(columns, part.indexes[order], kinds)
