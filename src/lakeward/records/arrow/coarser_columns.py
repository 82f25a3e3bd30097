"""Columns for engines whose moments are coarser than ours: rounded down, before 1970 too, so that order is kept."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

_NAMES = {"s": "second", "ms": "millisecond", "us": "microsecond", "ns": "nanosecond"}
_UNITS = list(_NAMES)


def coarser(values: pa.Array, target: pa.DataType) -> pa.Array:
    """The column in a type that differs in the fineness of its moments only, whatever they are nested in."""
    source = values.type
    if source == target:
        return values
    if pa.types.is_timestamp(source):
        return _moments(values, target)
    if pa.types.is_struct(source):
        parts = [coarser(values.field(i), target.field(i).type) for i in range(target.num_fields)]
        return pa.StructArray.from_arrays(parts, fields=list(target), mask=values.is_null())
    if pa.types.is_map(source):
        fields = [target.key_field, target.item_field]
        parts = [coarser(values.keys, target.key_type), coarser(values.items, target.item_type)]
        return _same_lists(values, target, pa.StructArray.from_arrays(parts, fields=fields))
    if pa.types.is_list(source):
        return _same_lists(values, target, coarser(values.values, target.value_type))
    return values.cast(target)


def _same_lists(values: pa.Array, target: pa.DataType, children: pa.Array) -> pa.Array:
    """The same lists over other elements; validity and offsets are shared."""
    shared = values.buffers()[:2]
    return pa.Array.from_buffers(target, len(values), shared, values.null_count, values.offset, [children])


def _moments(values: pa.Array, target: pa.DataType) -> pa.Array:
    unit = values.type.unit
    if _UNITS.index(unit) > _UNITS.index(target.unit):
        # A cast rounds towards 1970, not down; without a zone the floor is plain arithmetic.
        values = pc.floor_temporal(values.cast(pa.timestamp(unit)), unit=_NAMES[target.unit])
    return values.cast(target)


def has_nanoseconds(arrow: pa.DataType) -> bool:
    """Whether there are moments of nanoseconds in a type."""
    if pa.types.is_nested(arrow):
        return any(has_nanoseconds(arrow.field(n).type) for n in range(arrow.num_fields))
    return bool(pa.types.is_timestamp(arrow) and arrow.unit == "ns")
