"""Which columns of a Parquet file are worth a dictionary."""

from __future__ import annotations

import pyarrow as pa


def dictionary_columns(schema: pa.Schema) -> list[str]:
    """Columns, by their path in Parquet, whose values repeat often enough to be numbered: texts and small numbers.

    For 64-bit numbers, moments and fractions the attempt costs half of the writing, and most of them end up plain.
    """
    return [path for field in schema for path in _repeating(field.name, field.type)]


def _repeating(path: str, type_: pa.DataType) -> list[str]:
    if pa.types.is_list(type_):
        return _repeating(f"{path}.list.element", type_.value_type)
    if pa.types.is_map(type_):
        parts = (("key", type_.key_type), ("value", type_.item_type))
        return [p for name, part in parts for p in _repeating(f"{path}.key_value.{name}", part)]
    if pa.types.is_struct(type_):
        return [p for field in type_ for p in _repeating(f"{path}.{field.name}", field.type)]
    is_wide = pa.types.is_int64(type_) or pa.types.is_timestamp(type_) or pa.types.is_floating(type_)
    return [] if is_wide else [path]
