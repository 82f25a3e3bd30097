"""`avro`: a message is a record of the schema that the table's columns make."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from lakeward.errors import ErrorCode
from lakeward.formats.avro.avro_options import ENCODING, LEGACY_TIMES
from lakeward.formats.avro.avro_schema import count_type, record_of
from lakeward.formats.avro.avro_values import AvroRows
from lakeward.formats.port import Decoded
from lakeward.formats.values.faults import Faults
from lakeward.model.data_types import DataType, TypeRoot
from lakeward.model.schema import Schema

#: What fastavro raises for bytes that are no record of the schema.
DAMAGE = (ValueError, EOFError, LookupError, ArithmeticError, TypeError, MemoryError, RecursionError)


def library() -> Any:
    """fastavro, or an error that says how to get it."""
    try:
        import fastavro
    except ImportError:
        raise ErrorCode.INVALID_CONFIG.error(
            "The formats of Avro need the library fastavro: pip install 'lakeward[kafka]'."
        ) from None
    return fastavro


class AvroCodec:
    """Reads and writes records."""

    has_changes = False

    def __init__(self, schema: Schema, options: Mapping[str, str], name: str = "avro") -> None:
        self._avro = library()
        ENCODING.read(options)
        self.record = record_of(schema, legacy_times=LEGACY_TIMES[name].read(options))
        self._parsed = self._avro.parse_schema(self.record)
        self._columns = schema.columns
        self._rows = AvroRows(schema)

    def decode(self, messages: Sequence[bytes | None]) -> Decoded:
        """A row for each message."""
        faults, records, owners = Faults(), [], []
        for index, message in enumerate(messages):
            if message is None:
                continue
            found = self.read_record(message, 0, self._parsed, index, faults)
            if found is not None:
                records.append(found)
                owners.append(index)
        return self.finish(records, owners, faults)

    def read_record(self, message: bytes, start: int, writer: Any, index: int, faults: Faults) -> dict[str, Any] | None:
        """The record in a message, from a place on to its end; None if there is none."""
        stream = io.BytesIO(message)
        stream.seek(start)
        try:
            record = self._avro.schemaless_reader(stream, writer, None)
        except DAMAGE as wrong:
            faults.add(index, f"it is not a record of the schema: {type(wrong).__name__} {wrong}".rstrip())
            return None
        if stream.tell() != len(message):
            faults.add(index, f"it is not a record of the schema: {len(message) - stream.tell()} bytes are left over")
            return None
        if not isinstance(record, dict):
            faults.add(index, "its schema is not a record")
            return None
        return record

    def finish(self, records: Sequence[dict[str, Any]], owners: Sequence[int], faults: Faults) -> Decoded:
        """The rows of records."""
        return self._rows.of(records, owners, faults)

    def encode(self, rows: pa.RecordBatch, kinds: pa.Array | None = None, head: bytes = b"") -> Sequence[bytes | None]:
        """A message for each row."""
        del kinds
        columns = [_in_numbers(rows.column(i), column.type) for i, column in enumerate(self._columns)]
        named = pa.RecordBatch.from_arrays(columns, names=[column.name for column in self._columns])
        maps = [column.name for column in self._columns if _has_map(column.type)]
        messages: list[bytes | None] = []
        for row in named.to_pylist(maps_as_pydicts="strict" if maps else None):
            stream = io.BytesIO()
            stream.write(head)
            self._avro.schemaless_writer(stream, self._parsed, row)
            messages.append(stream.getvalue())
        return messages


def _in_numbers(values: pa.Array, type_: DataType) -> pa.Array:
    """Times as the numbers that Avro writes: days, milliseconds, microseconds; deeper ones have their unit already."""
    if type_.root is TypeRoot.TIME:
        return values.cast(pa.time32("ms")).cast(pa.int32())
    if type_.root in {TypeRoot.TIMESTAMP, TypeRoot.TIMESTAMP_LTZ} and values.type.unit == "s":
        values = pc.cast(values, pa.timestamp("ms", values.type.tz))
    return values.cast(count_type(type_))


def _has_map(type_: DataType) -> bool:
    inner = [type_.element, type_.value, *(field.type for field in type_.fields)]
    return type_.root is TypeRoot.MAP or any(_has_map(t) for t in inner if t is not None)
