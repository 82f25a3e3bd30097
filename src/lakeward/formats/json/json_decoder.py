"""Messages → rows: an object is a row, an array of objects several.

All messages are looked at together, a column at a time; one that is bad costs its neighbours nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from lakeward.formats.json.json_columns import JsonColumns
from lakeward.formats.json.json_objects import objects_of, tell_wrong
from lakeward.formats.json.json_options import JsonSettings
from lakeward.formats.port import Decoded
from lakeward.formats.values.faults import Faults
from lakeward.model.schema import Schema
from lakeward.records.arrow.arrow_types import arrow_schema


class JsonDecoder:
    """Reads rows of objects."""

    has_changes = False

    def __init__(self, schema: Schema, settings: JsonSettings) -> None:
        self._fields = [(column.name, column.type) for column in schema.columns]
        self._arrow = arrow_schema(schema)
        self._settings = settings

    def decode(self, messages: Sequence[bytes | None]) -> Decoded:
        """The rows of the messages."""
        faults = Faults()
        objects = objects_of(messages, faults, spread=True)
        columns, wrong = JsonColumns(self._settings, faults).fields(objects, self._fields)
        tell_wrong(objects.owners, wrong, messages, faults)
        rows, owners = pa.RecordBatch.from_arrays(columns, schema=self._arrow), objects.owners
        if len(faults):
            keep = ~np.isin(owners, faults.owners())
            rows, owners = rows.filter(pa.array(keep)), owners[keep]
        return Decoded(rows, pa.array(owners), None, faults.bad())
