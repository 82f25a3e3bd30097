"""Rows and what happened to them → messages: one for each row, as other systems write them.

An update is a delete of what was and an insert of what is, since a message of either format is made of one row here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from lakeward.formats.changes.table_origin import TableOrigin
from lakeward.formats.json.json_options import JsonSettings
from lakeward.formats.json.json_text import object_texts
from lakeward.formats.port import DELETE, UPDATE_BEFORE
from lakeward.model.schema import Schema


@dataclass(frozen=True, slots=True)
class _Shape:
    """What stands around the row that is there, and around the one that is gone; the end is left open."""

    there: tuple[str, str]
    gone: tuple[str, str]


_SHAPES = {
    "debezium-json": _Shape(('{"before":null,"after":', ',"op":"c"'), ('{"before":', ',"after":null,"op":"d"')),
    "canal-json": _Shape(('{"data":[', '],"type":"INSERT"'), ('{"data":[', '],"type":"DELETE"')),
}


class ChangeEncoder:
    """Writes changes; they say which table they are of where an origin is given."""

    has_changes = True

    def __init__(
        self, name: str, schema: Schema, options: Mapping[str, str], origin: TableOrigin | None = None
    ) -> None:
        self._columns = [(column.name, column.type) for column in schema.columns]
        self._settings = JsonSettings.of(options, name)
        self._shape = _SHAPES[name]
        self._end = "}" if origin is None else f",{origin.fields(name)}}}"

    def encode(self, rows: pa.RecordBatch, kinds: pa.Array | None = None) -> Sequence[bytes | None]:
        """A message for each row."""
        texts = object_texts(rows.columns, self._columns, self._settings, rows.num_rows)
        is_gone = np.zeros(rows.num_rows, np.bool_)
        if kinds is not None:
            is_gone = np.isin(np.asarray(kinds), [UPDATE_BEFORE, DELETE])
        head, tail = (
            pc.if_else(
                pa.array(is_gone),
                pa.scalar(self._shape.gone[side], pa.large_string()),
                pa.scalar(self._shape.there[side], pa.large_string()),
            )
            for side in (0, 1)
        )
        end, glue = (pa.scalar(text, pa.large_string()) for text in (self._end, ""))
        whole = pc.binary_join_element_wise(head, texts, tail, end, glue)
        messages: list[bytes | None] = whole.cast(pa.large_binary()).to_pylist()
        return messages
