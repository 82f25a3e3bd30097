"""The bounds of some columns of a data file, as Python values."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterable
from typing import Any

from pyiceberg import types as ice
from pyiceberg.conversions import from_bytes
from pyiceberg.manifest import DataFile
from pyiceberg.schema import Schema as IcebergSchema

from lakeward.lake.port import Bounds

_EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)


class ColumnBounds:
    """Reads the bounds of these columns; nothing is known of a column that the lake does not have."""

    def __init__(self, schema: IcebergSchema, names: Iterable[str]) -> None:
        wanted = set(names)
        self._fields = [f for f in schema.fields if f.name in wanted and isinstance(f.field_type, ice.PrimitiveType)]

    def of(self, file: DataFile) -> dict[str, Bounds]:
        """The bounds of a file."""
        return {f.name: self._bounds(file, f) for f in self._fields}

    def _bounds(self, file: DataFile, field: ice.NestedField) -> Bounds:
        low, high = ((found or {}).get(field.field_id) for found in (file.lower_bounds, file.upper_bounds))
        return Bounds(
            None if low is None else _value(field.field_type, low),
            None if high is None else _value(field.field_type, high),
            (file.null_value_counts or {}).get(field.field_id),
            (file.value_counts or {}).get(field.field_id),
        )


def _value(type_: ice.IcebergType, data: bytes) -> Any:
    assert isinstance(type_, ice.PrimitiveType)
    value = from_bytes(type_, data)
    make = _MADE.get(type(type_))
    try:
        return value if make is None else make(value)
    except OverflowError:  # a moment beyond Python's: nothing is known
        return None


_MADE: dict[type[ice.IcebergType], Callable[[Any], Any]] = {
    ice.DateType: lambda days: _EPOCH.date() + dt.timedelta(days=days),
    ice.TimestampType: lambda micros: (_EPOCH + dt.timedelta(microseconds=micros)).replace(tzinfo=None),
    ice.TimestamptzType: lambda micros: _EPOCH + dt.timedelta(microseconds=micros),
    ice.TimeType: lambda micros: (_EPOCH + dt.timedelta(microseconds=micros)).time(),
}
