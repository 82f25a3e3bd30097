"""Debezium's changes: `{"before": …, "after": …, "op": "c" | "r" | "u" | "d"}`, alone or as the payload of a schema.

An update is two rows, or one where nothing says what was before. A message without a value follows a delete, and is
none itself. `m` is not about rows; `t`, a truncation, cannot be said in rows, and is bad.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from lakeward.formats.changes.change_schema import ChangeSchema
from lakeward.formats.json.json_columns import JsonColumns
from lakeward.formats.json.json_objects import objects_of, tell_wrong
from lakeward.formats.json.json_options import JsonSettings
from lakeward.formats.port import DELETE, INSERT, UPDATE_AFTER, UPDATE_BEFORE, Decoded
from lakeward.formats.values.faults import Faults
from lakeward.model.data_types import ROW, STRING
from lakeward.model.schema import Schema

_IGNORED = "m"


class DebeziumJsonDecoder:
    """Reads changes of one table."""

    has_changes = True

    def __init__(self, schema: Schema, options: Mapping[str, str]) -> None:
        self._schema = ChangeSchema(schema)
        self._settings = JsonSettings.of(options, "debezium-json")
        envelope = [("before", self._schema.row), ("after", self._schema.row), ("op", STRING())]
        self._fields = [("payload", ROW(envelope)), *envelope]

    def decode(self, messages: Sequence[bytes | None]) -> Decoded:
        """The changes of the messages."""
        faults = Faults()
        objects = objects_of(messages, faults)
        columns, wrong = JsonColumns(self._settings, faults).fields(objects, self._fields)
        tell_wrong(objects.owners, wrong, messages, faults)
        payload, *plain = columns
        before, after, op = plain
        if payload.null_count < len(payload):
            is_inside = payload.is_valid()
            before, after, op = (
                pc.if_else(is_inside, inner, outer) for inner, outer in zip(payload.flatten(), plain, strict=True)
            )
        return self._changes(before, after, op, objects.owners, faults)

    def _changes(
        self,
        before: pa.StructArray,
        after: pa.StructArray,
        op: pa.Array,
        owners: np.ndarray[tuple[int], np.dtype[np.int64]],
        faults: Faults,
    ) -> Decoded:
        def is_op(*names: str) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
            return np.asarray(pc.is_in(op, pa.array(names)))

        has_before, has_after = np.asarray(before.is_valid()), np.asarray(after.is_valid())
        inserts, updates, deletes = is_op("c", "r"), is_op("u"), is_op("d")
        lacks_after, lacks_before = (inserts | updates) & ~has_after, deletes & ~has_before
        unknown = ~(inserts | updates | deletes | is_op(_IGNORED))
        for index in np.flatnonzero(lacks_after | lacks_before | unknown).tolist():
            faults.add(int(owners[index]), _why(op[index].as_py(), is_unknown=bool(unknown[index])))
        kinds = np.zeros((len(op), 2), np.uint8)
        kinds[:, 0] = np.select([updates & has_before, deletes & has_before], [UPDATE_BEFORE, DELETE])
        kinds[:, 1] = np.select([inserts & has_after, updates & has_after], [INSERT, UPDATE_AFTER])
        places = np.arange(2 * len(op)).reshape(2, len(op)).T  # those before, then those after
        is_row = kinds > 0
        rows = pa.concat_arrays([before, after]).take(pa.array(places[is_row]))
        who = np.broadcast_to(owners[:, None], is_row.shape)[is_row]
        return self._schema.finish(rows, kinds[is_row], who, faults)


def _why(op: str | None, *, is_unknown: bool) -> str:
    if not is_unknown:
        return f"op '{op}' needs '{'before' if op == 'd' else 'after'}', and there is none"
    if op is None:
        return "there is no 'op': it is not a change of Debezium's"
    if op == "t":
        return "op 't' says that the table was emptied, which no rows can say"
    return f"op '{op[:20]}' is not known"
