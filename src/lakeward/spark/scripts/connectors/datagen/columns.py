"""Recipe → Arrow: whole columns at a time, in the types that Spark takes."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from lakeward.model.data_types import DataType, TypeRoot
from lakeward.spark.scripts.connectors.datagen.draws import (
    U64,
    draw,
    draw_below,
    draw_unit,
    draw_wide,
    seed_of,
    wide_line,
)
from lakeward.spark.scripts.connectors.datagen.recipes import Recipe
from lakeward.spark.table.spark_arrow import spark_arrow_type

_HEX = np.frombuffer(b"0123456789abcdef", np.uint8)
_DIGITS_OF_DRAW, _BYTES_OF_DRAW = 16, 8
_MS_PER_DAY = 86_400_000
_WHOLE = {TypeRoot.TINYINT: "i1", TypeRoot.SMALLINT: "i2", TypeRoot.INTEGER: "i4", TypeRoot.BIGINT: "i8"}


def make_batch(
    recipes: Iterable[Recipe], schema: pa.Schema, seed: int, first: int, times_ms: NDArray[np.int64]
) -> pa.RecordBatch:
    """Rows from number `first` on, as many as there are times; a row is due at its time."""
    places = np.arange(first, first + len(times_ms), dtype=np.uint64)
    return pa.RecordBatch.from_arrays([_column(recipe, seed, places, times_ms) for recipe in recipes], schema=schema)


def _column(recipe: Recipe, seed: int, places: U64, times_ms: NDArray[np.int64]) -> pa.Array:
    values = _values(recipe, seed, places, times_ms)
    if not recipe.null_rate:
        return values
    present = draw_unit(seed_of(seed, recipe.path, "null"), places) >= recipe.null_rate
    return pc.if_else(pa.array(present), values, pa.scalar(None, values.type))


def _values(recipe: Recipe, seed: int, places: U64, times_ms: NDArray[np.int64]) -> pa.Array:
    if recipe.start is not None:
        return _sequence(recipe, recipe.start, places)
    own = seed_of(seed, recipe.path)
    match recipe.type.root:
        case TypeRoot.BOOLEAN:
            return pa.array((draw(own, places) & np.uint64(1)).astype(bool))
        case TypeRoot.TINYINT | TypeRoot.SMALLINT | TypeRoot.INTEGER | TypeRoot.BIGINT:
            return _whole_numbers(recipe, own, places)
        case TypeRoot.FLOAT | TypeRoot.DOUBLE:
            return _fractions(recipe, own, places)
        case TypeRoot.DECIMAL:
            return _decimals(recipe.type, draw_wide(own, places, int(recipe.low), int(recipe.high)))
        case TypeRoot.CHAR | TypeRoot.STRING | TypeRoot.BINARY | TypeRoot.BYTES:
            return _texts(recipe, own, places)
        case TypeRoot.ARRAY | TypeRoot.MAP:
            return _entries(recipe, seed, places, times_ms)
        case TypeRoot.ROW:
            arrow = spark_arrow_type(recipe.type)
            parts = [_column(inner, seed, places, times_ms) for inner in recipe.inner]
            return pa.StructArray.from_arrays(parts, fields=list(arrow))
        case _:
            past = draw_below(own, places, recipe.max_past_ms + 1).astype(np.int64)
            return _moments(recipe.type, times_ms - past)


def _sequence(recipe: Recipe, start: int, places: U64) -> pa.Array:
    if recipe.type.root is TypeRoot.DECIMAL:
        one = 10 ** (recipe.type.scale or 0)
        return _decimals(recipe.type, wide_line(places, start * one, one))
    numbers = places.astype(np.int64) + start
    return pa.array(numbers).cast(spark_arrow_type(recipe.type))


def _whole_numbers(recipe: Recipe, seed: int, places: U64) -> pa.Array:
    low, high = int(recipe.low), int(recipe.high)
    steps = draw_below(seed, places, high - low + 1)
    with np.errstate(over="ignore"):
        numbers = (steps + np.uint64(low & (2**64 - 1))).view(np.int64)
    return pa.array(numbers.astype(_WHOLE[recipe.type.root]))


def _fractions(recipe: Recipe, seed: int, places: U64) -> pa.Array:
    share = draw_unit(seed, places)
    low, high = float(recipe.low), float(recipe.high)
    # Each bound by itself: their difference may be more than a double can be.
    return pa.array((low * (1.0 - share) + high * share).astype("f4" if recipe.type.root is TypeRoot.FLOAT else "f8"))


def _decimals(type_: DataType, halves: NDArray[np.uint64]) -> pa.Array:
    buffer = pa.py_buffer(np.ascontiguousarray(halves))
    return pa.Array.from_buffers(spark_arrow_type(type_), len(halves), [None, buffer])


def _texts(recipe: Recipe, seed: int, places: U64) -> pa.Array:
    """Hexadecimal digits, or bytes."""
    is_text = recipe.type.root in {TypeRoot.CHAR, TypeRoot.STRING}
    of_draw = _DIGITS_OF_DRAW if is_text else _BYTES_OF_DRAW
    draws = -(-recipe.length // of_draw)
    inner = places[:, None] * np.uint64(draws) + np.arange(draws, dtype=np.uint64)[None, :]
    found = draw(seed, inner).astype("<u8").view(np.uint8).reshape(len(places), draws * _BYTES_OF_DRAW)
    if is_text:
        found = np.stack([_HEX[found >> 4], _HEX[found & 15]], axis=2).reshape(len(places), draws * _DIGITS_OF_DRAW)
    found = found[:, : recipe.length]
    lengths = np.full(len(places), recipe.length, np.int64)
    if recipe.varies:
        lengths = draw_below(seed_of(seed, "length"), places, recipe.length).astype(np.int64) + 1
        found = found[np.arange(recipe.length)[None, :] < lengths[:, None]]
    data = pa.py_buffer(np.ascontiguousarray(found))
    buffers = [None, pa.py_buffer(_offsets(lengths)), data]
    return pa.Array.from_buffers(spark_arrow_type(recipe.type), len(places), buffers)


def _offsets(lengths: NDArray[np.int64]) -> NDArray[np.int32]:
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)


def _entries(recipe: Recipe, seed: int, places: U64, times_ms: NDArray[np.int64]) -> pa.Array:
    """An array's elements, a map's keys and values; a key comes once in a map."""
    count, arrow = recipe.length, spark_arrow_type(recipe.type)
    inner = (places[:, None] * np.uint64(count) + np.arange(count, dtype=np.uint64)[None, :]).ravel()
    parts = [_column(part, seed, inner, np.repeat(times_ms, count)) for part in recipe.inner]
    lengths = np.full(len(places), count, np.int64)
    if recipe.type.root is TypeRoot.ARRAY:
        offsets = pa.array(_offsets(lengths))
        return pa.ListArray.from_arrays(offsets, parts[0], type=arrow)
    is_first = _first_in_row(parts[0], len(places), count)
    lengths = is_first.sum(axis=1)
    keys, values = (part.filter(pa.array(is_first.ravel())) for part in parts)
    return pa.MapArray.from_arrays(pa.array(_offsets(lengths)), keys, values, type=arrow)


def _first_in_row(keys: pa.Array, rows: int, count: int) -> NDArray[np.bool_]:
    """Which keys were not in their row before."""
    codes = keys.dictionary_encode().indices.to_numpy().reshape(rows, count)
    order = np.argsort(codes, axis=1, kind="stable")
    sorted_codes = np.take_along_axis(codes, order, axis=1)
    is_new = np.ones_like(codes, dtype=bool)
    is_new[:, 1:] = sorted_codes[:, 1:] != sorted_codes[:, :-1]
    is_first = np.empty_like(is_new)
    np.put_along_axis(is_first, order, is_new, axis=1)
    return is_first


def _moments(type_: DataType, at_ms: NDArray[np.int64]) -> pa.Array:
    unit = 10 ** (3 - min(type_.precision or 0, 3))
    match type_.root:
        case TypeRoot.DATE:
            return pa.array((at_ms // _MS_PER_DAY).astype(np.int32)).cast(pa.date32())
        case TypeRoot.TIME:
            return pa.array(at_ms % _MS_PER_DAY // unit * unit * 1_000_000).cast(pa.time64("ns"))
        case _:
            return pa.array(at_ms // unit * unit * 1000).cast(spark_arrow_type(type_))
