"""Rows → messages: an object each."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from lakeward.formats.json.json_options import JsonSettings
from lakeward.formats.json.json_text import object_texts
from lakeward.model.schema import Schema


class JsonEncoder:
    """Writes rows as objects."""

    has_changes = False

    def __init__(self, schema: Schema, settings: JsonSettings) -> None:
        self._columns = [(column.name, column.type) for column in schema.columns]
        self._settings = settings

    def encode(self, rows: pa.RecordBatch, kinds: pa.Array | None = None) -> Sequence[bytes | None]:
        """A message for each row."""
        del kinds
        texts = object_texts(rows.columns, self._columns, self._settings, rows.num_rows)
        messages: list[bytes | None] = texts.cast(pa.binary()).to_pylist()
        return messages
