"""The bounds of some columns of a file, as its entry in a manifest has them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from lakeward.errors import LakewardError
from lakeward.lake.paimon.manifest.manifests import FileEntry
from lakeward.lake.paimon.schema.binary_row import of_binary
from lakeward.lake.paimon.schema.shape import TableShape
from lakeward.lake.port import Bounds
from lakeward.model.data_types import DataType, TypeRoot
from lakeward.model.values import to_python

_COUNT_BYTES = 4
_TIMES = {TypeRoot.TIMESTAMP, TypeRoot.TIMESTAMP_LTZ}
_MICROS_DIGITS = 6


class FileBounds:
    """Reads the bounds of these columns.

    Of a primary key table only those of the key: a file that cannot match by another column may still hold the newest
    row of a key, whose older row in another file would then come to light.
    """

    def __init__(self, shape: TableShape, names: Iterable[str]) -> None:
        self._shape = shape
        self._wanted = set(names) & (set(shape.keys) if shape.keys else {name for _, name, _ in shape.columns})

    def of(self, entry: FileEntry) -> dict[str, Bounds]:
        """The bounds of a file; of a column that nothing is known of there are none."""
        if not self._wanted:
            return {}
        shape, file = self._shape, entry.file
        if shape.keys:
            return self._read(shape.keys, file["_KEY_STATS"], entry.rows)
        names = file.get("_VALUE_STATS_COLS")
        if names is None:  # all columns, of the schema that the file was written with
            names = [name for _, name, _ in shape.columns] if file["_SCHEMA_ID"] == shape.schema_id else []
        return self._read(names, file["_VALUE_STATS"], entry.rows)

    def _read(self, names: Sequence[str], told: Mapping[str, Any], rows: int) -> dict[str, Bounds]:
        known = {name: type_ for _, name, type_ in self._shape.columns}
        if not names or any(name not in known for name in names):
            return {}
        types = [known[name] for name in names]
        lows, highs = (_values(types, told[key]) for key in ("_MIN_VALUES", "_MAX_VALUES"))
        if lows is None or highs is None:
            return {}
        nulls = told.get("_NULL_COUNTS") or [None] * len(names)
        found = zip(names, types, lows, highs, nulls, strict=True)
        return {
            name: Bounds(_python(type_, low), _python(type_, high), null_count, rows)
            for name, type_, low, high, null_count in found
            if name in self._wanted
        }


def _values(types: Sequence[DataType], data: bytes) -> tuple[Any, ...] | None:
    """The values of a row; None for one with another number of columns, such as the empty one."""
    if int.from_bytes(data[:_COUNT_BYTES], "big") != len(types):
        return None
    return of_binary(types, data)


def _python(type_: DataType, value: Any) -> Any:
    if type_.root in _TIMES and (type_.precision or 0) > _MICROS_DIGITS:
        return None  # Python would cut off what is finer, and a bound with it
    try:
        return to_python(type_, value)
    except (OverflowError, ValueError, LakewardError):  # a moment beyond Python's: nothing is known
        return None
