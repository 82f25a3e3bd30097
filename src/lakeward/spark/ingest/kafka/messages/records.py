"""Records: rows of a table → keys and values of messages, whole batches at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from lakeward.errors import ErrorCode
from lakeward.language.changes import CHANGE_TYPE
from lakeward.model.schema import Schema
from lakeward.spark.ingest.kafka.messages.table_shape import TableShape
from lakeward.spark.table.spark_arrow import from_spark

_CHANGES = pa.array(["", "insert", "update_before", "update_after", "delete"])
_BEFORE, _DELETE = 2, 4
_RAW_TYPES = {"key": pa.binary(), "value": pa.binary(), "topic": pa.string(), "partition": pa.int32()}
_RAW_NAMES = (*_RAW_TYPES, "headers", "timestamp")


@dataclass(frozen=True, slots=True)
class Records:
    """Messages to write; what is None is not given."""

    values: Sequence[bytes | None]
    keys: Sequence[bytes | None] | None = None
    topics: Sequence[str | None] | None = None
    partitions: Sequence[int | None] | None = None
    headers: Sequence[Any] | None = None
    timestamps_ms: Sequence[int | None] | None = None


class RecordMaker:
    """Makes the records of one table."""

    def __init__(self, schema: Schema, options: dict[str, str]) -> None:
        self._value = self._key = None
        self._shape = TableShape.of(schema, options)
        self._value = self._shape.value_encoder()
        self._key = self._shape.key_encoder()
        self._by_key = self._shape.key_schema() if self._key is not None else None
        if self._value is None:
            _check_raw(schema)

    @property
    def has_changes(self) -> bool:
        """Whether the format itself can say what was deleted."""
        return self._value is not None and self._value.has_changes

    def records(self, batch: pa.RecordBatch) -> Records:
        """The messages of some rows, as Spark has them."""
        if self._value is None:
            return _raw(batch)
        kinds = None
        if CHANGE_TYPE in batch.schema.names:
            kinds = pc.index_in(batch.column(batch.schema.get_field_index(CHANGE_TYPE)), _CHANGES).cast(pa.uint8())
            if not self.has_changes:  # by key, what is there now says it all
                kept = pc.not_equal(kinds, _BEFORE)
                batch, kinds = batch.filter(kept), kinds.filter(kept)
        value_schema = self._shape.value_schema()
        rows = from_spark(batch.select(list(self._shape.value)), value_schema)
        values = self._value.encode(rows, kinds if self.has_changes else None)
        if kinds is not None and not self.has_changes:
            deleted = pc.equal(kinds, _DELETE)
            if pc.any(deleted).as_py():
                values = list(values)
                for place in pc.indices_nonzero(deleted).to_pylist():
                    values[place] = None
        return Records(values, self._keys(batch))

    def _keys(self, batch: pa.RecordBatch) -> Sequence[bytes | None] | None:
        if self._key is None or self._by_key is None:
            return None
        chosen = batch.select(list(self._shape.key)).rename_columns(list(self._by_key.names))
        return self._key.encode(from_spark(chosen, self._by_key))


def _check_raw(schema: Schema) -> None:
    unknown = [name for name in schema.names if name not in _RAW_NAMES]
    if unknown or "value" not in schema.names:
        raise ErrorCode.INVALID_CONFIG.error(
            f"Without the option 'format' rows need a column 'value', and may have {', '.join(_RAW_NAMES[:-1])};"
            f" {f'{unknown[0]!r} is none of them' if unknown else 'there is none'}. Give 'format', such as 'json'."
        )


def _raw(batch: pa.RecordBatch) -> Records:
    found = {name: batch.column(place) for place, name in enumerate(batch.schema.names)}
    plain = {name: found[name].cast(type_).to_pylist() for name, type_ in _RAW_TYPES.items() if name in found}
    headers = found["headers"].to_pylist() if "headers" in found else None
    if headers is not None:
        headers = [None if one is None else [(h["key"], h["value"]) for h in one] for one in headers]
    times = found["timestamp"].cast(pa.timestamp("ms", tz="UTC"), safe=False) if "timestamp" in found else None
    return Records(
        plain["value"],
        plain.get("key"),
        plain.get("topic"),
        plain.get("partition"),
        headers,
        None if times is None else times.cast(pa.int64()).to_pylist(),
    )
