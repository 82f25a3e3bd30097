"""Canal's changes: `{"data": [row, …], "old": [what changed, …], "type": "INSERT" | "UPDATE" | "DELETE"}`.

What was before an update is the row with the fields of `old` put back. Messages of statements that define tables have
no rows.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from lakeward.formats.changes.change_options import DATABASE_INCLUDE, TABLE_INCLUDE
from lakeward.formats.changes.change_schema import ChangeSchema
from lakeward.formats.json.json_columns import JsonColumns
from lakeward.formats.json.json_objects import objects_of, tell_wrong
from lakeward.formats.json.json_options import JsonSettings
from lakeward.formats.port import DELETE, INSERT, UPDATE_AFTER, UPDATE_BEFORE, Decoded
from lakeward.formats.values.faults import Faults
from lakeward.formats.values.values import I64, MISSING, U8
from lakeward.model.data_types import ARRAY, BOOLEAN, STRING
from lakeward.model.schema import Schema
from lakeward.options.option import Option, invalid_value

_KINDS = {"INSERT": INSERT, "UPDATE": UPDATE_AFTER, "DELETE": DELETE}


class CanalJsonDecoder:
    """Reads changes of one table."""

    has_changes = True

    def __init__(self, schema: Schema, options: Mapping[str, str]) -> None:
        self._schema = ChangeSchema(schema)
        self._settings = JsonSettings.of(options, "canal-json")
        self._includes = [_pattern(DATABASE_INCLUDE, options), _pattern(TABLE_INCLUDE, options)]
        rows = ARRAY(self._schema.row)
        texts = [(name, STRING()) for name in ("type", "database", "table")]
        self._fields = [("data", rows), ("old", rows), ("isDdl", BOOLEAN()), *texts]

    def decode(self, messages: Sequence[bytes | None]) -> Decoded:
        """The changes of the messages."""
        faults = Faults()
        objects = objects_of(messages, faults)
        seen = {f"old[].{name}": np.empty(0, np.uint8) for name in self._schema.names}
        columns, wrong = JsonColumns(self._settings, faults, seen).fields(objects, self._fields)
        tell_wrong(objects.owners, wrong, messages, faults)
        data, old, is_ddl, type_, *places = columns
        is_wanted = ~np.asarray(is_ddl.fill_null(False))  # noqa: FBT003 - Arrow's signature
        for pattern, names in zip(self._includes, places, strict=True):
            if pattern is not None:
                is_wanted &= np.array([bool(pattern.fullmatch(name or "")) for name in names.to_pylist()], np.bool_)
        kinds = np.zeros(len(type_), np.uint8)
        for word, kind in _KINDS.items():
            kinds[np.asarray(pc.fill_null(pc.equal(type_, word), False))] = kind  # noqa: FBT003
        self._check(data, old, type_, kinds, objects.owners, is_wanted, faults)
        kinds[~is_wanted] = 0
        return self._changes(data, old, kinds, objects.owners, seen, faults)

    def _check(
        self, data: pa.Array, old: pa.Array, type_: pa.Array, kinds: U8, owners: I64, is_wanted: U8, faults: Faults
    ) -> None:
        """Changes without rows, and rows without a change; what has neither is about tables."""
        has_data, olds = np.asarray(data.is_valid()), np.asarray(pc.list_value_length(old).fill_null(0))
        sizes = np.asarray(pc.list_value_length(data).fill_null(0))
        lacks_data, unknown = (kinds > 0) & ~has_data, (kinds == 0) & has_data
        lacks_old = (kinds == UPDATE_AFTER) & has_data & (olds != sizes)
        for index in np.flatnonzero((lacks_data | unknown | lacks_old) & is_wanted).tolist():
            if unknown[index]:
                reason = f"type '{str(type_[index].as_py())[:20]}' is not known"
            elif lacks_data[index]:
                reason = f"type '{type_[index].as_py()}' needs 'data', and there is none"
            else:
                reason = f"there are {sizes[index]} rows in 'data' and {olds[index]} in 'old'"
            faults.add(int(owners[index]), reason)
            kinds[index] = 0

    def _changes(
        self, data: pa.ListArray, old: pa.ListArray, kinds: U8, owners: I64, seen: dict[str, U8], faults: Faults
    ) -> Decoded:
        sizes = np.asarray(pc.list_value_length(data).fill_null(0))
        row_kinds, row_owners, after = np.repeat(kinds, sizes), np.repeat(owners, sizes), data.flatten()
        row_kinds[np.asarray(after.is_null())] = 0
        # What each row was: of updates alone, in their order, which is that of `old`.
        is_update = np.flatnonzero(np.repeat(kinds == UPDATE_AFTER, sizes))
        from_old = np.flatnonzero(np.repeat(kinds == UPDATE_AFTER, np.asarray(pc.list_value_length(old).fill_null(0))))
        before = self._put_back(after.take(pa.array(is_update)), old.flatten(), from_old, seen)
        pair = np.zeros((len(row_kinds), 2), np.uint8)
        pair[:, 1] = row_kinds
        pair[is_update, 0] = np.where(row_kinds[is_update] > 0, UPDATE_BEFORE, 0)
        places = np.zeros((len(row_kinds), 2), np.int64)
        places[:, 1] = np.arange(len(row_kinds))
        places[is_update, 0] = len(row_kinds) + np.arange(len(is_update))
        is_row = pair > 0
        rows = pa.concat_arrays([after, before]).take(pa.array(places[is_row]))
        who = np.broadcast_to(row_owners[:, None], is_row.shape)[is_row]
        return self._schema.finish(rows, pair[is_row], who, faults)

    def _put_back(self, after: pa.StructArray, old: pa.StructArray, which: I64, seen: dict[str, U8]) -> pa.StructArray:
        """Rows with the fields that are in `old` as they are there."""
        columns = []
        for name, now, then in zip(
            self._schema.names, after.flatten(), old.take(pa.array(which)).flatten(), strict=True
        ):
            was_told = seen[f"old[].{name}"][which] != MISSING
            columns.append(pc.if_else(pa.array(was_told), then, now))
        return pa.StructArray.from_arrays(columns, fields=list(after.type))


def _pattern(option: Option[str | None], options: Mapping[str, str]) -> re.Pattern[str] | None:
    text = option.read(options)
    try:
        return None if text is None else re.compile(text)
    except re.error as wrong:
        raise invalid_value(option.key, text or "", wrong) from wrong
