"""Stored values as cells, whichever schema of the table they were written with.

A column is read under the plainest type that has the same bytes, so what is only carried along is not understood:

    BOOLEAN, integers, DATE, TIME                int
    DECIMAL to 18 digits, TIMESTAMP to 3         int: unscaled, milliseconds
    finer TIMESTAMP                              Timestamp
    FLOAT, DOUBLE                                float
    all else                                     bytes; a DECIMAL's are big-endian, a CHAR's may be padded

A sum may go beyond the digits of its DECIMAL, in Apache Fluss as here; plain cells hold it.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from lakeward.errors import LakewardError
from lakeward.model import data_types as t
from lakeward.model.data_types import DataType, TypeRoot
from lakeward.model.schema import Schema
from lakeward.model.table import TableInfo
from lakeward.model.values import DECIMAL_COMPACT_DIGITS_MAX, TIMESTAMP_COMPACT_PRECISION_MAX
from lakeward.options import table as table_options
from lakeward.records.row import compacted_row, indexed_row
from lakeward.records.row.row_codec import RowCodec
from lakeward.storage.kv.merge.null_rules import null_error, required_columns, unreadable_row

SCHEMA_ID_BYTES = 2
_SCHEMA_ID = struct.Struct("<h")

Cells = Sequence[Any]


def plain_type(type_: DataType, *, padded: bool) -> DataType:
    """The plainest type with the same bytes; `padded`: the format pads CHAR and BINARY and leaves out their length."""
    match type_.root:
        case TypeRoot.BOOLEAN:
            return t.TINYINT()
        case TypeRoot.DATE | TypeRoot.TIME:
            return t.INT()
        case TypeRoot.DECIMAL:
            assert type_.precision is not None
            return t.BIGINT() if type_.precision <= DECIMAL_COMPACT_DIGITS_MAX else t.BYTES()
        case TypeRoot.TIMESTAMP | TypeRoot.TIMESTAMP_LTZ:
            assert type_.precision is not None
            return t.BIGINT() if type_.precision <= TIMESTAMP_COMPACT_PRECISION_MAX else t.TIMESTAMP(9)
        case TypeRoot.CHAR | TypeRoot.BINARY:
            assert type_.length is not None
            return t.BINARY(type_.length) if padded else t.BYTES()
        case TypeRoot.STRING | TypeRoot.BYTES | TypeRoot.ARRAY | TypeRoot.MAP | TypeRoot.ROW:
            return t.BYTES()
        case _:
            return type_.as_nullable()


class _Reader(NamedTuple):
    """How values of one schema are read."""

    schema: Schema
    codec: RowCodec
    null_bytes: int
    required: int
    sources: tuple[int | None, ...] | None
    """Where each column of the latest schema stands; None when they all stand where they do there."""


class ValueRows:
    """Reads and writes the stored values of one table as cells of its latest schema."""

    def __init__(self, table: TableInfo, schema_of: Callable[[int], Schema]) -> None:
        self.table = table
        self.is_padded = table_options.KV_FORMAT.read(table.descriptor.properties) == "INDEXED"
        self._schema_of = schema_of
        self._readers: dict[int, _Reader] = {}
        self.types = tuple(plain_type(c.type, padded=self.is_padded) for c in table.schema.columns)
        self._codec = self._codec_of(self.types)
        self._schema_id = _SCHEMA_ID.pack(table.schema_id)
        self.nothing: tuple[None, ...] = (None,) * len(self.types)

    def first_columns(self, schema_id: int) -> int:
        """How many columns a schema has if the latest one begins with them; 0 if not, or if there is none."""
        try:
            reader = self._reader_under(schema_id)
        except LakewardError:
            return 0
        count = len(reader.schema.columns)
        begins = (*range(count), *[None] * (len(self.types) - count))
        same = reader.codec.types == self.types[:count]
        return count if same and (reader.sources is None or reader.sources == begins) else 0

    def required_of(self, schema_id: int) -> tuple[int, int]:
        """A bit for each column that must not be NULL under a schema, lowest bit first, and how many columns it has."""
        reader = self._reader_under(schema_id)
        return reader.required, len(reader.schema.columns)

    def check(self, value: bytes) -> None:
        """Refuse a new row that is NULL where it must not be."""
        reader = self._reader_of(value)
        nulls = value[SCHEMA_ID_BYTES : SCHEMA_ID_BYTES + reader.null_bytes]
        if len(nulls) < reader.null_bytes:
            raise unreadable_row(self.table.path, _SCHEMA_ID.unpack_from(value)[0], "it is cut off")
        wrong = int.from_bytes(nulls, "little") & reader.required
        if wrong:
            raise null_error(self.table.path, reader.schema, wrong)

    def read(self, value: bytes) -> Cells:
        """The cells of a value by the latest schema; columns that it does not have are None."""
        reader = self._reader_of(value)
        cells = reader.codec.decode(value[SCHEMA_ID_BYTES:])
        if reader.sources is None:
            return cells
        return [None if source is None else cells[source] for source in reader.sources]

    def read_new(self, value: bytes) -> Cells:
        """The cells of a row that arrives; refused when it is no row, or NULL where it must not be."""
        self.check(value)
        try:
            return self.read(value)
        except LakewardError as wrong:
            raise unreadable_row(self.table.path, _SCHEMA_ID.unpack_from(value)[0], wrong) from wrong

    def write(self, cells: Cells) -> bytes:
        """The value of cells, under the latest schema."""
        return self._schema_id + self._codec.encode(cells)

    def _reader_of(self, value: bytes) -> _Reader:
        return self._reader_under(_SCHEMA_ID.unpack_from(value)[0])

    def _reader_under(self, schema_id: int) -> _Reader:
        reader = self._readers.get(schema_id)
        if reader is None:
            reader = self._readers[schema_id] = self._new_reader(schema_id)
        return reader

    def _new_reader(self, schema_id: int) -> _Reader:
        latest = self.table.schema
        schema = latest if schema_id == self.table.schema_id else self._schema_of(schema_id)
        codec = self._codec_of([plain_type(c.type, padded=self.is_padded) for c in schema.columns])
        at = {c.id: i for i, c in enumerate(schema.columns)}
        sources = tuple(at.get(c.id) for c in latest.columns)
        return _Reader(
            schema,
            codec,
            (len(schema.columns) + 7) // 8,
            required_columns(schema),
            None if sources == tuple(range(len(schema.columns))) else sources,
        )

    def _codec_of(self, types: Sequence[DataType]) -> RowCodec:
        return indexed_row.codec(tuple(types)) if self.is_padded else compacted_row.codec(tuple(types))
