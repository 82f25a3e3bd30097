"""Types guessed from the first rows of a text file, widened so that later rows fit too."""

from __future__ import annotations

import pyarrow as pa

_TIMES = (pa.date32(), pa.timestamp("us"), pa.timestamp("us", "UTC"), pa.timestamp("ns"), pa.timestamp("ns", "UTC"))


def widen_schema(found: pa.Table, *, times_are_text: bool = False) -> pa.Schema:
    """The schema for a new table that takes rows like these. Every column may be NULL: no guess can rule it out."""
    fields = []
    for field in found.schema:
        type_ = _widened_type(field.type)
        if times_are_text and pa.types.is_string(type_):
            type_ = _type_of_texts(found[field.name])
        elif pa.types.is_timestamp(type_) and type_.unit == "ns":
            type_ = _without_needless_digits(found[field.name])
        fields.append(pa.field(field.name, type_))
    return pa.schema(fields)


def times_as_text(schema: pa.Schema) -> pa.Schema:
    """The schema with text in place of times, for a reader that recognises only some of them."""
    return pa.schema([pa.field(f.name, pa.string() if pa.types.is_timestamp(f.type) else f.type) for f in schema])


def _widened_type(type_: pa.DataType) -> pa.DataType:
    types = pa.types
    if types.is_null(type_):
        return pa.string()
    if types.is_timestamp(type_) and type_.unit == "s":
        return pa.timestamp("us", type_.tz)
    if types.is_time32(type_):
        return pa.time32("ms")
    if types.is_struct(type_):
        return pa.struct([pa.field(f.name, _widened_type(f.type)) for f in type_])
    if types.is_list(type_):
        return pa.list_(_widened_type(type_.value_type))
    return type_


def _type_of_texts(texts: pa.ChunkedArray) -> pa.DataType:
    if texts.null_count == len(texts) or not pa.types.is_string(texts.type):
        return pa.string()
    return next((type_ for type_ in _TIMES if _casts(texts, type_)), pa.string())


def _without_needless_digits(times: pa.ChunkedArray) -> pa.DataType:
    short = pa.timestamp("us", times.type.tz)
    return short if _casts(times, short) else times.type


def _casts(values: pa.ChunkedArray, type_: pa.DataType) -> bool:
    try:
        values.cast(type_)
    except pa.ArrowInvalid:
        return False
    return True
