"""Values as JSON, a column at a time: each value of a column becomes a text, and the texts of a row are joined."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from itertools import groupby

import pyarrow as pa
import pyarrow.compute as pc

from lakeward.formats.json.json_options import JsonSettings
from lakeward.model.data_types import NESTED, DataType, TypeRoot

_CONTROLS = [chr(code) for code in range(0x20)]
_SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t", "\b": "\\b", "\f": "\\f"}
_SPECIAL = {"nan": '"NaN"', "inf": '"Infinity"', "-inf": '"-Infinity"'}
_PLAIN = {TypeRoot.BOOLEAN, TypeRoot.TINYINT, TypeRoot.SMALLINT, TypeRoot.INTEGER, TypeRoot.BIGINT, TypeRoot.DECIMAL}
_REALS = {TypeRoot.FLOAT, TypeRoot.DOUBLE}
_BARE = _PLAIN | _REALS
_BYTES = {TypeRoot.BYTES, TypeRoot.BINARY}
_MOMENTS = {TypeRoot.TIMESTAMP, TypeRoot.TIMESTAMP_LTZ}


def object_texts(
    columns: Sequence[pa.Array], fields: Sequence[tuple[str, DataType]], settings: JsonSettings, rows: int
) -> pa.Array:
    """Objects of columns: one for each row."""
    if not columns:
        return pa.array(["{}"] * rows, pa.large_string())
    parts: list[pa.Array | str] = []
    for (name, type_), values in zip(fields, columns, strict=True):
        head = f"{_quote_one(name)}:"
        if settings.ignores_nulls:
            named = _join(f",{head}", value_texts(values, type_, settings))
            parts.append(pc.if_else(pc.is_valid(values), named, pa.scalar("", pa.large_string())))
        else:
            parts += [f"{',' if parts else '{'}{head}", *_pieces(values, type_, settings)]
    if settings.ignores_nulls:
        inner = pc.utf8_ltrim(_join(*parts), characters=",")
        return _join("{", inner, "}")
    return _join(*parts, "}")


def _pieces(values: pa.Array, type_: DataType, settings: JsonSettings) -> list[pa.Array | str]:
    """What is joined to the texts of a column: fewer joins, where nothing is NULL."""
    if values.null_count or type_.root in _BARE or type_.root in NESTED:
        return [value_texts(values, type_, settings)]
    return ['"', _bare_texts(values, type_, settings), '"']


def value_texts(values: pa.Array, type_: DataType, settings: JsonSettings) -> pa.Array:
    """The values of one column as JSON; NULL is `null`."""
    match type_.root:
        case TypeRoot.ARRAY:
            assert type_.element is not None
            inner = value_texts(values.flatten(), type_.element, settings)
            texts = _brackets(values, inner, "[", "]")
        case TypeRoot.MAP:
            texts = _map_texts(values, type_, settings)
        case TypeRoot.ROW:
            fields = [(field.name, field.type) for field in type_.fields]
            texts = object_texts(values.flatten(), fields, settings, len(values))
        case _:
            texts = _leaf_texts(values, type_, settings)
    if not values.null_count:
        return texts
    return pc.if_else(pc.is_valid(values), texts, pa.scalar("null", pa.large_string()))


def plain_texts(values: pa.Array, type_: DataType, settings: JsonSettings) -> pa.Array:
    """Single values as texts without quotes and escapes; NULL stays NULL."""
    if type_.root in {TypeRoot.STRING, TypeRoot.CHAR}:
        return values.cast(pa.large_string())
    if type_.root in _REALS:
        return pc.replace_substring(_leaf_texts(values, type_, settings), '"', "")
    return _leaf_texts(values, type_, settings) if type_.root in _PLAIN else _bare_texts(values, type_, settings)


def _leaf_texts(values: pa.Array, type_: DataType, settings: JsonSettings) -> pa.Array:
    if type_.root in _PLAIN:
        return values.cast(pa.large_string())
    if type_.root in _REALS:
        # 9.0 stays 9.0: readers that guess types by the first value would take 9 for a whole number.
        texts = pc.replace_substring_regex(values.cast(pa.large_string()), r"^(-?\d+)$", r"\1.0")
        if not pc.all(pc.is_finite(values)).as_py():
            for arrow, ours in _SPECIAL.items():
                texts = pc.if_else(pc.equal(texts, arrow), pa.scalar(ours, pa.large_string()), texts)
        return texts
    return _join('"', _bare_texts(values, type_, settings), '"')


def _bare_texts(values: pa.Array, type_: DataType, settings: JsonSettings) -> pa.Array:
    """What stands between the quotes."""
    if type_.root in _BYTES:
        encoded = [None if value is None else base64.b64encode(value).decode() for value in values.to_pylist()]
        return pa.array(encoded, pa.large_string())
    if type_.root in {TypeRoot.STRING, TypeRoot.CHAR}:
        return escape(values.cast(pa.large_string()))
    texts = values.cast(pa.large_string())
    return pc.replace_substring(texts, " ", "T") if settings.is_iso and type_.root in _MOMENTS else texts


def escape(texts: pa.Array) -> pa.Array:
    """pa.Array as they stand between quotes."""
    if not pc.any(pc.match_substring_regex(texts, r'["\\\x00-\x1f]')).as_py():
        return texts
    texts = pc.replace_substring(texts, "\\", "\\\\")
    texts = pc.replace_substring(texts, '"', '\\"')
    if pc.any(pc.match_substring_regex(texts, r"[\x00-\x1f]")).as_py():
        for control in _CONTROLS:
            texts = pc.replace_substring(texts, control, _SHORT.get(control, f"\\u{ord(control):04x}"))
    return texts


def _map_texts(values: pa.MapArray, type_: DataType, settings: JsonSettings) -> pa.Array:
    assert type_.key is not None
    assert type_.value is not None
    entries = values.cast(pa.list_(pa.struct([("key", values.type.key_type), ("value", values.type.item_type)])))
    keys, items = entries.flatten().flatten()
    if type_.key.root in {TypeRoot.STRING, TypeRoot.CHAR}:
        bare = escape(keys.cast(pa.large_string()))
    elif type_.key.root in _BYTES | _MOMENTS | {TypeRoot.DATE, TypeRoot.TIME}:
        bare = _bare_texts(keys, type_.key, settings)
    else:
        bare = escape(value_texts(keys, type_.key, settings))
    pairs = _join('"', bare, '":', value_texts(items, type_.value, settings))
    return _brackets(entries, pairs, "{", "}")


def _brackets(lists: pa.Array, inner: pa.Array, left: str, right: str) -> pa.Array:
    """The texts of each list, with commas between them."""
    lengths = pc.fill_null(pc.list_value_length(lists), 0).cast(pa.int64())
    offsets = pa.concat_arrays([pa.array([0], pa.int64()), pc.cumulative_sum(lengths)])
    grouped = pa.LargeListArray.from_arrays(offsets, inner)
    return _join(left, pc.binary_join(grouped, pa.scalar(",", pa.large_string())), right)


def _join(*parts: pa.Array | str) -> pa.Array:
    whole: list[pa.Array | pa.Scalar] = []
    for is_constant, run in groupby(parts, lambda part: isinstance(part, str)):
        these = list(run)
        whole += [pa.scalar("".join(these), pa.large_string())] if is_constant else these
    return pc.binary_join_element_wise(*whole, pa.scalar("", pa.large_string()))


def _quote_one(name: str) -> str:
    quoted: str = escape(pa.array([name], pa.large_string()))[0].as_py()
    return f'"{quoted}"'
