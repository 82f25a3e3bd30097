"""Records → columns, by name: what a record lacks is NULL, what it has beyond is left out."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from lakeward.formats.port import Decoded
from lakeward.formats.values.faults import Faults
from lakeward.model.data_types import DataType, TypeRoot
from lakeward.model.schema import Schema
from lakeward.records.arrow.arrow_types import arrow_schema, arrow_type

_SHOWN = 80
_FLOAT_MAX = 3.4028235677973366e38
_MOMENTS = {TypeRoot.TIMESTAMP, TypeRoot.TIMESTAMP_LTZ}
#: What the values of a type are in Python where nothing needs to be done.
_EXACT: dict[TypeRoot, set[type]] = {
    **{key: {int} for key in (TypeRoot.TINYINT, TypeRoot.SMALLINT, TypeRoot.INTEGER, TypeRoot.BIGINT)},
    **{key: {float} for key in (TypeRoot.FLOAT, TypeRoot.DOUBLE)},
    **{key: {str} for key in (TypeRoot.STRING, TypeRoot.CHAR)},
    **{key: {dt.datetime} for key in (TypeRoot.TIMESTAMP, TypeRoot.TIMESTAMP_LTZ)},
    TypeRoot.BOOLEAN: {bool},
    TypeRoot.BYTES: {bytes},
    TypeRoot.DECIMAL: {Decimal},
    TypeRoot.DATE: {dt.date},
    TypeRoot.TIME: {dt.time},
}


class MisfitError(ValueError):
    """A value does not fit its column."""


class AvroRows:
    """Makes rows of records."""

    def __init__(self, schema: Schema) -> None:
        self._columns = [(column.name, column.type) for column in schema.columns]
        self._arrow = arrow_schema(schema)

    def of(self, records: Sequence[Mapping[str, Any]], owners: Sequence[int], faults: Faults) -> Decoded:
        """The rows of records, and the message that each came from; most often all fit, and are read by column."""
        columns = [self._quick(records, *column) for column in self._columns]
        if all(column is not None for column in columns):
            batch = pa.RecordBatch.from_arrays(columns, schema=self._arrow)
            return Decoded(batch, pa.array(owners, pa.int64()), None, faults.bad())
        rows, kept = [], []
        for record, owner in zip(records, owners, strict=True):
            try:
                rows.append([_fit(record.get(name), type_, name) for name, type_ in self._columns])
            except MisfitError as wrong:
                faults.add(owner, str(wrong))
            else:
                kept.append(owner)
        columns = [pa.array([row[at] for row in rows], field.type) for at, field in enumerate(self._arrow)]
        batch = pa.RecordBatch.from_arrays(columns, schema=self._arrow)
        return Decoded(batch, pa.array(kept, pa.int64()), None, faults.bad())

    @staticmethod
    def _quick(records: Sequence[Mapping[str, Any]], name: str, type_: DataType) -> pa.Array | None:
        """A column of values that are what the type says, or None."""
        values = [record.get(name) for record in records]
        kinds = set(map(type, values))
        if type_.nullable:
            kinds.discard(type(None))
        if not kinds <= _EXACT.get(type_.root, set()):
            return None
        target = arrow_type(type_)
        try:
            if type_.root in _MOMENTS:
                zones = {value.tzinfo for value in values if value is not None}
                if not zones <= {dt.UTC, None} or len(zones) > 1:
                    return None
                return pa.array(values, pa.timestamp("us", "UTC")).cast(target)
            made = pa.array(values, target)
        except (pa.ArrowException, TypeError, ValueError, OverflowError):
            return None
        overflows = type_.root is TypeRoot.FLOAT and pc.any(pc.is_inf(made)).as_py()
        return None if overflows else made


def _fit(value: Any, type_: DataType, name: str) -> Any:
    """A value as Arrow takes it for the column."""
    if value is None:
        if type_.nullable:
            return None
        raise MisfitError(f"column '{name}' is NOT NULL, and there is no value for it")
    match type_.root:
        case TypeRoot.ARRAY:
            assert type_.element is not None
            return [_fit(item, type_.element, f"{name}[]") for item in _of(value, list, type_, name)]
        case TypeRoot.MAP:
            assert type_.key is not None
            assert type_.value is not None
            entries = _of(value, dict, type_, name).items()
            return [(_leaf(k, type_.key, name), _fit(v, type_.value, f"{name}[]")) for k, v in entries]
        case TypeRoot.ROW:
            inner = _of(value, dict, type_, name)
            return {f.name: _fit(inner.get(f.name), f.type, f"{name}.{f.name}") for f in type_.fields}
        case _:
            return _leaf(value, type_, name)


def _leaf(value: Any, type_: DataType, name: str) -> Any:
    if type_.root in {TypeRoot.STRING, TypeRoot.CHAR}:
        return value if isinstance(value, str) else _text(value, type_, name)
    if isinstance(value, dt.datetime):
        value = value.astimezone(dt.UTC) if value.tzinfo else value
        is_local = type_.root is TypeRoot.TIMESTAMP
        value = value.replace(tzinfo=None) if is_local else value.replace(tzinfo=dt.UTC)
    if type_.root is TypeRoot.DECIMAL and isinstance(value, int | float):
        value = Decimal(repr(value))
    if type_.root is TypeRoot.FLOAT and isinstance(value, float) and _FLOAT_MAX < abs(value) < math.inf:
        raise _misfit(value, type_, name)
    try:
        return pa.scalar(value, arrow_type(type_)).as_py() if _needs_check(value, type_) else value
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        raise _misfit(value, type_, name) from None


def _needs_check(value: Any, type_: DataType) -> bool:
    """All but what cannot fail: numbers of 64 bits and doubles, which are most."""
    exact = {TypeRoot.BIGINT: int, TypeRoot.DOUBLE: float, TypeRoot.BOOLEAN: bool, TypeRoot.BYTES: bytes}
    return type(value) is not exact.get(type_.root)


def _text(value: Any, type_: DataType, name: str) -> str:
    if isinstance(value, bytes | list | dict):
        raise _misfit(value, type_, name)
    return str(value).lower() if isinstance(value, bool) else str(value)


def _of(value: Any, kind: type, type_: DataType, name: str) -> Any:
    if not isinstance(value, kind):
        raise _misfit(value, type_, name)
    return value


def _misfit(value: Any, type_: DataType, name: str) -> MisfitError:
    text = repr(value)
    text = text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
    return MisfitError(f"column '{name}' of type {type_} cannot hold {text}")
