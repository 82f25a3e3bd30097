"""Messages ↔ rows of one column: texts, bytes, numbers of a fixed width. A message without a value is NULL."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa

from lakeward.errors import ErrorCode
from lakeward.formats.port import BadMessage, Decoded
from lakeward.formats.raw.raw_options import CHARSET, ENDIANNESS
from lakeward.model.data_types import DataType, TypeRoot
from lakeward.model.schema import Schema
from lakeward.records.arrow.arrow_types import arrow_schema

_NUMBERS = {
    TypeRoot.BOOLEAN: "i1",
    TypeRoot.TINYINT: "i1",
    TypeRoot.SMALLINT: "i2",
    TypeRoot.INTEGER: "i4",
    TypeRoot.BIGINT: "i8",
    TypeRoot.FLOAT: "f4",
    TypeRoot.DOUBLE: "f8",
}
_PIECES = {TypeRoot.STRING, TypeRoot.CHAR, TypeRoot.BYTES, TypeRoot.BINARY}


class RawCodec:
    """Reads and writes messages as they are."""

    has_changes = False

    def __init__(self, schema: Schema, options: Mapping[str, str]) -> None:
        self._arrow = arrow_schema(schema)
        CHARSET.read(options)
        order = ">" if ENDIANNESS.read(options) == "big-endian" else "<"
        self._type = _only_type(schema)
        number = _NUMBERS.get(self._type.root)
        self._number = None if number is None else np.dtype(f"{order}{number}")

    def decode(self, messages: Sequence[bytes | None]) -> Decoded:
        """A row for each message."""
        bad = {index: reason for index, message in enumerate(messages) if (reason := self._wrong(message))}
        indexes = [index for index in range(len(messages)) if index not in bad]
        kept = [messages[index] for index in indexes]
        (field,) = self._arrow
        if self._number is None:
            column = pa.array(kept, pa.binary()).cast(field.type)
        else:
            width = self._number.itemsize
            whole = b"".join(bytes(width) if message is None else message for message in kept)
            numbers = np.frombuffer(whole, self._number).astype(self._number.newbyteorder("="))
            if self._type.root is TypeRoot.BOOLEAN:
                numbers = numbers != 0
            column = pa.array(numbers, field.type, mask=np.array([message is None for message in kept], np.bool_))
        rows = pa.RecordBatch.from_arrays([column], schema=self._arrow)
        return Decoded(rows, pa.array(indexes, pa.int64()), None, [BadMessage(i, why) for i, why in bad.items()])

    def encode(self, rows: pa.RecordBatch, kinds: pa.Array | None = None) -> Sequence[bytes | None]:
        """A message for each row."""
        del kinds
        (column,) = rows.columns
        if self._number is None:
            messages: list[bytes | None] = column.cast(pa.binary()).to_pylist()
            return messages
        filled = column.fill_null(0 if self._type.root is not TypeRoot.BOOLEAN else False)
        whole, width = np.asarray(filled).astype(self._number).tobytes(), self._number.itemsize
        is_valid = column.is_valid().to_pylist()
        return [whole[i * width : (i + 1) * width] if is_valid[i] else None for i in range(len(column))]

    def _wrong(self, message: bytes | None) -> str | None:
        (field,) = self._arrow
        if message is None:
            return None if field.nullable else f"column '{field.name}' is NOT NULL, and the message has no value"
        width = self._number.itemsize if self._number is not None else None
        if self._type.root is TypeRoot.BINARY:
            width = self._type.length
        if width is not None and len(message) != width:
            return f"column '{field.name}' of type {self._type} takes {width} bytes, and it has {len(message)}"
        if self._type.root in {TypeRoot.STRING, TypeRoot.CHAR}:
            try:
                message.decode()
            except UnicodeDecodeError as wrong:
                return f"it is not UTF-8: byte {wrong.start} is {message[wrong.start]:#04x}"
        return None


def _only_type(schema: Schema) -> DataType:
    if len(schema.columns) != 1 or schema.columns[0].type.root not in {*_NUMBERS, *_PIECES}:
        raise ErrorCode.INVALID_TABLE.error(
            "The format 'raw' has one column: a text, bytes, a number or a BOOLEAN; there are"
            f" {', '.join(f'{column.name} {column.type}' for column in schema.columns)}."
        )
    return schema.columns[0].type
