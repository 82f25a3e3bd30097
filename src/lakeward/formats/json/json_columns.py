"""Values of JSON → columns: objects are rows or maps, arrays are lists, the rest is read where it lies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lakeward.formats.json.json_kernels import cut_columns, cut_entries
from lakeward.formats.json.json_options import JsonSettings
from lakeward.formats.values.faults import Faults
from lakeward.formats.values.leaf_columns import leaf_column
from lakeward.formats.values.values import ABSENT, ARRAY, FITS, MISSING, NULL, OBJECT, U8, UNFIT, Values
from lakeward.model.data_types import DataType, TypeRoot
from lakeward.records.arrow.arrow_types import arrow_type

Fields = Sequence[tuple[str, DataType]]
_WANTED = {TypeRoot.ARRAY: ARRAY, TypeRoot.MAP: OBJECT, TypeRoot.ROW: OBJECT}


@dataclass(frozen=True, slots=True)
class JsonColumns:
    """Makes columns, and notes what is wrong with messages."""

    settings: JsonSettings
    faults: Faults
    #: What the values of some columns look like, by path: put in with anything, taken out with what was seen.
    seen: dict[str, U8] = field(default_factory=dict)

    def fields(self, objects: Values, fields: Fields, head: str = "") -> tuple[list[pa.Array], U8]:
        """The columns of objects, NULL where a value is no object, and what is wrong with each object."""
        names = tuple(name.encode() for name, _ in fields)
        starts, ends, kinds, wrong = cut_columns(objects.starts, objects.ends, objects.kinds, names)
        is_object = (objects.kinds == OBJECT) & (wrong == 0)
        columns = []
        for at, (name, type_) in enumerate(fields):
            values = Values(objects.held, starts[at], ends[at], kinds[at], objects.owners)
            columns.append(self.column(values, type_, f"{head}{name}", is_object))
        return columns, wrong

    def column(self, values: Values, type_: DataType, name: str, is_there: NDArray[np.bool_] | None = None) -> pa.Array:
        """One column; `is_there` says for which rows there ought to be a value."""
        if self.settings.fails_on_missing and is_there is not None:
            for index in np.flatnonzero((values.kinds == MISSING) & is_there).tolist():
                self.faults.add(values.owners[index], f"there is no field '{name}'")
        if name in self.seen:
            self.seen[name] = values.kinds
        made, status = self._convert(values, type_, name)
        if not self.settings.ignores_errors:
            self.faults.add_unfit(values, status, name, type_)
        if not type_.nullable:
            self.faults.add_absent(values, status, name, is_there)
        return made

    def _convert(self, values: Values, type_: DataType, name: str) -> tuple[pa.Array, U8]:
        if type_.root not in _WANTED:
            return leaf_column(values, type_)
        fits = values.kinds == _WANTED[type_.root]
        status = np.where(fits, FITS, np.where(values.kinds <= NULL, ABSENT, UNFIT)).astype(np.uint8)
        if type_.root is TypeRoot.ROW:
            columns, _ = self.fields(values, [(f.name, f.type) for f in type_.fields], f"{name}.")
            made = pa.StructArray.from_arrays(columns, fields=list(arrow_type(type_)), mask=pa.array(~fits))
        else:
            made = self._lists(values, type_, name, fits)
        return made, status

    def _lists(self, values: Values, type_: DataType, name: str, fits: NDArray[np.bool_]) -> pa.Array:
        counts, _, keys, items = cut_entries(values.starts, values.ends, values.kinds, _WANTED[type_.root])
        owners = np.repeat(values.owners, counts)
        offsets = np.zeros(len(counts) + 1, np.int32)
        np.cumsum(counts, out=offsets[1:])
        target, mask = arrow_type(type_), pa.array(~fits)
        items_there = np.ones(len(owners), np.bool_)
        if type_.root is TypeRoot.ARRAY:
            assert type_.element is not None
            inner = self.column(Values(values.held, *items, owners), type_.element, f"{name}[]", items_there)
            return pa.ListArray.from_arrays(pa.array(offsets), inner, type=target, mask=mask)
        assert type_.key is not None
        assert type_.value is not None
        key_column = self.column(Values(values.held, *keys, owners), type_.key, f"{name} (key)", items_there)
        item_column = self.column(Values(values.held, *items, owners), type_.value, f"{name}[]", items_there)
        return _map_of(offsets, key_column, item_column, target, fits)


def _map_of(
    offsets: NDArray[np.int32], keys: pa.Array, items: pa.Array, target: pa.DataType, fits: NDArray[np.bool_]
) -> pa.Array:
    """Maps in which a key stands once, with the last of its values; an entry without a key is left out."""
    rows = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    entries = pa.table({"row": rows, "key": keys, "at": np.arange(len(rows))})
    groups = entries.group_by(["row", "key"], use_threads=False).aggregate([("at", "min"), ("at", "max")])
    if groups.num_rows < len(rows) or keys.null_count:
        groups = groups.filter(groups.column("key").is_valid()).sort_by("at_min")
        keys = keys.take(groups.column("at_min").combine_chunks())
        items = items.take(groups.column("at_max").combine_chunks())
        counts = np.bincount(groups.column("row").to_numpy(), minlength=len(offsets) - 1)
        offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
    with_nulls = pa.array(offsets, mask=np.append(~fits, False))
    return pa.MapArray.from_arrays(with_nulls, keys, items, type=target)
