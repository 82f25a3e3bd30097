"""Casts of Arrow columns that never change a value: what may become what, and a clear refusal for the rest.

Arrow's own safe cast lets some losses pass (a timestamp's time of day, a decimal's digits) and allows more than one
wants by accident (numbers into text). The table below says what is allowed; the checks after it catch what is lost.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NoReturn, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc

from lakeward.errors import ErrorCode
from lakeward.model.data_types import DataType

_Values: TypeAlias = pa.Array | pa.ChunkedArray

_ALLOWED = {
    "null": None,  # NULLs fit everywhere
    "boolean": {"boolean"},
    "integer": {"integer", "floating", "decimal"},
    "floating": {"floating", "integer", "decimal"},
    "decimal": {"decimal", "integer", "floating"},
    "text": {"text", "date", "time", "timestamp", "zoned", "decimal"},
    "binary": {"binary"},
    "date": {"date", "timestamp", "zoned"},
    "time": {"time"},
    "timestamp": {"timestamp", "zoned", "date"},  # a timestamp without a zone is taken as UTC
    "zoned": {"zoned"},
    "list": {"list"},
    "map": {"map"},
    "struct": {"struct"},
}

# What Arrow's safe cast does not check by itself; only allowed where we can look at the result.
_NEEDS_CHECK = {("timestamp", "date"), ("floating", "decimal"), ("decimal", "floating"), ("text", "time")}


def is_list(arrow: pa.DataType) -> bool:
    """Whether an Arrow type is one of the lists we take."""
    return bool(pa.types.is_list(arrow) or pa.types.is_large_list(arrow) or pa.types.is_fixed_size_list(arrow))


def cast(values: _Values, target: pa.DataType, column: str, declared: DataType) -> _Values:
    """The column in its target type, value for value the same, or a refusal that names the column."""
    if values.type == target:
        return values
    source = values.type
    try:
        values = _plain(values)
        _check_allowed(values.type, target, nested=False)
        made = _CASTS.get((_family(values.type), _family(target)), _cast_safely)(values, target)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, _NotAllowedError) as wrong:
        raise ErrorCode.INVALID_TARGET_COLUMN.error(
            f"Column '{column}' is {declared}; the data of type {source} does not fit without loss: {wrong}"
        ) from wrong
    return made


def check_nulls(values: _Values, field: pa.Field, path: str) -> None:
    """Refuse NULLs where the column, or a part of it, is NOT NULL."""
    if not field.nullable and values.null_count:
        row = pc.index(pc.is_null(values), pa.scalar(True)).as_py()  # noqa: FBT003 - a value, not a flag
        raise ErrorCode.INVALID_TARGET_COLUMN.error(
            f"Column '{path}' is NOT NULL, but the data has {values.null_count} NULL in it, the first in row {row}."
        )
    if not _has_required_parts(field.type):
        return
    present = values.drop_null()
    if is_list(field.type):
        check_nulls(pc.list_flatten(present), field.type.value_field, f"{path}[]")
    elif pa.types.is_map(field.type):
        entries = present.combine_chunks() if isinstance(present, pa.ChunkedArray) else present
        for chunk in entries.chunks if isinstance(entries, pa.ChunkedArray) else [entries]:
            check_nulls(chunk.items, field.type.item_field, f"{path}{{}}")
    else:
        for i, part in enumerate(field.type):
            check_nulls(pc.struct_field(present, i), part, f"{path}.{part.name}")


def check_times(values: _Values, declared: DataType, column: str) -> None:
    """Refuse times of day below the millisecond: rows, keys and other clients have no place for them."""
    if not _has_fine_times(values.type):
        return
    for part in _fine_times(values):
        ticks = 1_000_000 if part.type.unit == "ns" else 1000
        numbers = part.cast(pa.int64())
        whole = pc.multiply(pc.divide(numbers, ticks), ticks)
        if not pc.all(pc.equal(whole, numbers), min_count=0).as_py():
            raise ErrorCode.INVALID_TARGET_COLUMN.error(
                f"Column '{column}' is {declared}, and tables keep TIME in milliseconds: a value has more digits; "
                "round it to TIME(3) first, or store it as BIGINT."
            )


def _has_fine_times(arrow: pa.DataType) -> bool:
    return bool(
        pa.types.is_time64(arrow)
        or (pa.types.is_nested(arrow) and any(_has_fine_times(arrow.field(n).type) for n in range(arrow.num_fields)))
    )


def _fine_times(values: _Values) -> Iterator[pa.Array]:
    """The times within a column, whatever they are nested in."""
    for chunk in values.chunks if isinstance(values, pa.ChunkedArray) else [values]:
        if pa.types.is_time64(chunk.type):
            yield chunk
        elif pa.types.is_struct(chunk.type):
            for part in chunk.flatten():
                yield from _fine_times(part)
        elif pa.types.is_map(chunk.type):
            for part in (chunk.keys, chunk.items):
                yield from _fine_times(part)
        elif is_list(chunk.type):
            yield from _fine_times(chunk.flatten())


def _has_required_parts(arrow: pa.DataType) -> bool:
    if is_list(arrow):
        parts = [arrow.value_field]
    elif pa.types.is_map(arrow):
        parts = [arrow.item_field]
    elif pa.types.is_struct(arrow):
        parts = list(arrow)
    else:
        return False
    return any(not p.nullable or _has_required_parts(p.type) for p in parts)


class _NotAllowedError(Exception):
    pass


def _refuse(message: str) -> NoReturn:
    raise _NotAllowedError(message)


def _plain(values: _Values) -> _Values:
    """Without dictionary, run-end or extension wrapping."""
    if isinstance(values.type, pa.BaseExtensionType):
        return _plain(values.cast(values.type.storage_type))
    if pa.types.is_dictionary(values.type):
        return _plain(_without_dictionary(values))
    if pa.types.is_run_end_encoded(values.type):
        return _plain(pc.run_end_decode(values))
    return values


def _without_dictionary(values: _Values) -> _Values:
    """Without a dictionary. One of views, as polars makes them, is turned into one of plain texts first."""
    wanted = values.type.value_type
    if not (pa.types.is_string_view(wanted) or pa.types.is_binary_view(wanted)):
        return values.cast(wanted)
    plain = pa.string() if pa.types.is_string_view(wanted) else pa.binary()
    chunks = values.chunks if isinstance(values, pa.ChunkedArray) else [values]
    made = [pa.DictionaryArray.from_arrays(c.indices, c.dictionary.cast(plain)).cast(plain) for c in chunks]
    return pa.chunked_array(made, plain) if isinstance(values, pa.ChunkedArray) else made[0]


def _family(arrow: pa.DataType) -> str:
    types = pa.types
    if types.is_timestamp(arrow):
        return "timestamp" if arrow.tz is None else "zoned"
    for family, belongs in (
        ("null", types.is_null),
        ("boolean", types.is_boolean),
        ("integer", types.is_integer),
        ("floating", types.is_floating),
        ("decimal", types.is_decimal),
        ("text", lambda t: types.is_string(t) or types.is_large_string(t) or types.is_string_view(t)),
        ("binary", _is_binary),
        ("date", types.is_date),
        ("time", types.is_time),
        ("list", is_list),
        ("map", types.is_map),
        ("struct", types.is_struct),
    ):
        if belongs(arrow):
            return family
    return str(arrow)


def _is_binary(arrow: pa.DataType) -> bool:
    types = pa.types
    return bool(
        types.is_binary(arrow)
        or types.is_large_binary(arrow)
        or types.is_binary_view(arrow)
        or types.is_fixed_size_binary(arrow)
    )


def _check_allowed(source: pa.DataType, target: pa.DataType, *, nested: bool) -> None:
    if nested and pa.types.is_dictionary(source):
        source = source.value_type
    pair = (_family(source), _family(target))
    allowed = _ALLOWED.get(pair[0], set())
    if allowed is None:
        return
    if pair == ("zoned", "timestamp"):
        _refuse("it has a time zone; declare the column TIMESTAMP_LTZ, or drop the zone from the data")
    if pair[1] not in allowed or (nested and pair in _NEEDS_CHECK):
        _refuse(f"{source} is not turned into {target} by itself; cast the data first")
    if pair[0] == "list":
        _check_allowed(source.value_type, target.value_type, nested=True)
    elif pair[0] == "map":
        _check_allowed(source.key_type, target.key_type, nested=True)
        _check_allowed(source.item_type, target.item_type, nested=True)
    elif pair[0] == "struct":
        _check_fields(source, target)


def _check_fields(source: pa.StructType, target: pa.StructType) -> None:
    wanted = {field.name: field.type for field in target}
    for field in source:
        if field.name not in wanted:
            _refuse(f"the column has no field '{field.name}'")
        _check_allowed(field.type, wanted[field.name], nested=True)


def _cast_safely(values: _Values, target: pa.DataType) -> _Values:
    return values.cast(target, safe=True)


def _integer_to_decimal(values: _Values, target: pa.DataType) -> _Values:
    return values.cast(pa.decimal256(20 + target.scale, target.scale)).cast(target)


def _floating_to_floating(values: _Values, target: pa.DataType) -> _Values:
    """Rounds to the nearest FLOAT, as a FLOAT column must; only an overflow is a loss."""
    made = values.cast(target)
    if pc.any(pc.and_(pc.is_inf(made), pc.invert(pc.is_inf(values)))).as_py():
        _refuse("a value is too large")
    return made


def _checked_by_return(values: _Values, target: pa.DataType) -> _Values:
    made = values.cast(target)
    if not pc.all(pc.equal(made.cast(values.type), values), min_count=0).as_py():
        _refuse("a value would change")
    return made


def _without_zeros(cast: Callable[[_Values, pa.DataType], _Values]) -> Callable[[_Values, pa.DataType], _Values]:
    """A reader of times that takes more digits than the type has where those are zeros, as many programs write them."""

    def read(values: _Values, target: pa.DataType) -> _Values:
        try:
            return cast(values, target)
        except pa.ArrowInvalid:
            short = pc.replace_substring_regex(values.cast(pa.string()), r"(\.\d*[1-9])0+(\D|$)", r"\1\2")
            short = pc.replace_substring_regex(short, r"\.0+(\D|$)", r"\1")
            try:
                return cast(short, target)
            except pa.ArrowInvalid:
                pass  # the first refusal has the text as it stands
            raise

    return read


def _text_to_zoned(values: _Values, target: pa.DataType) -> _Values:
    try:
        return values.cast(target)
    except pa.ArrowInvalid:
        return values.cast(pa.timestamp(target.unit)).cast(target)  # no zone in the text: UTC


def _text_to_time(values: _Values, target: pa.DataType) -> _Values:
    day_and_time = pc.binary_join_element_wise("1970-01-01T", values.cast(pa.string()), "")
    return day_and_time.cast(pa.timestamp(target.unit)).cast(target)


_CASTS = {
    ("integer", "decimal"): _integer_to_decimal,
    ("floating", "floating"): _floating_to_floating,
    ("floating", "decimal"): _checked_by_return,
    ("decimal", "floating"): _checked_by_return,
    ("timestamp", "date"): _checked_by_return,
    ("text", "timestamp"): _without_zeros(_cast_safely),
    ("text", "zoned"): _without_zeros(_text_to_zoned),
    ("text", "time"): _without_zeros(_text_to_time),
}
