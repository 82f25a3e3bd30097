"""`avro-confluent`: a message is a zero, the number of its schema, and a record.

Each message is read by the schema that it was written by; columns are found by name, so that a record that lacks one,
or has more, is read all the same.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from lakeward.errors import ErrorCode
from lakeward.formats.avro.avro_codec import AvroCodec, library
from lakeward.formats.avro.avro_options import SUBJECT
from lakeward.formats.avro.schema_registry import SchemaRegistry
from lakeward.formats.port import Decoded
from lakeward.formats.values.faults import Faults
from lakeward.model.schema import Schema

_HEAD = struct.Struct(">bI")


class ConfluentCodec:
    """Reads and writes records with the number of their schema."""

    has_changes = False

    def __init__(self, schema: Schema, options: Mapping[str, str]) -> None:
        self._codec = AvroCodec(schema, options, "avro-confluent")
        self._registry = SchemaRegistry(options)
        self._subject = SUBJECT.read(options) or (f"{options['topic']}-value" if "topic" in options else None)
        self._writers: dict[int, Any] = {}

    def decode(self, messages: Sequence[bytes | None]) -> Decoded:
        """A row for each message."""
        faults, records, owners = Faults(), [], []
        for index, message in enumerate(messages):
            if message is None:
                continue
            writer = self._writer_of(message, index, faults)
            found = writer and self._codec.read_record(message, _HEAD.size, writer, index, faults)
            if found:
                records.append(found)
                owners.append(index)
        return self._codec.finish(records, owners, faults)

    def encode(self, rows: pa.RecordBatch, kinds: pa.Array | None = None) -> Sequence[bytes | None]:
        """A message for each row; the schema is registered before the first."""
        del kinds
        if self._subject is None:
            raise ErrorCode.INVALID_CONFIG.error(
                f"Rows are written under the schema of a subject: set the option '{SUBJECT.key}'."
            )
        number = self._registry.number(self._subject, self._codec.record)
        return self._codec.encode(rows, head=_HEAD.pack(0, number))

    def _writer_of(self, message: bytes, index: int, faults: Faults) -> Any:
        if len(message) < _HEAD.size or message[0] != 0:
            faults.add(index, "it does not begin with a zero and the number of a schema")
            return None
        _, number = _HEAD.unpack_from(message)
        if number not in self._writers:
            self._writers[number] = self._parse(number)
        if self._writers[number] is None:
            faults.add(index, f"the schema registry does not know schema {number}")
        return self._writers[number]

    def _parse(self, number: int) -> Any:
        found = self._registry.schema(number)
        if found is None:
            return None
        schema, named = found
        known: dict[str, Any] = {}
        for inner in named.values():
            library().parse_schema(inner, named_schemas=known)
        return library().parse_schema(schema, named_schemas=known)
