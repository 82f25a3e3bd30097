"""ARRAY, MAP and ROW columns: bytes in rows ↔ trees of Arrow columns, one value at a time.

The leaves of a tree are scalars again. They take the compiled way: written as rows of one column, which are decoded
together; and back the same way.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from lakeward.errors import ErrorCode
from lakeward.model.data_types import NESTED, DataType, TypeRoot
from lakeward.records.columnar.columns import ALIGNMENT_BYTES, Columns, places_of
from lakeward.records.columnar.flat_rows import decode_flat, encode_flat
from lakeward.records.ipc.arrow_message import column_shape, damage_error
from lakeward.records.kernels.row_programs import I64, U8, RowForm, RowProgram, row_program
from lakeward.records.kernels.spans import Spans, read_only
from lakeward.records.row import compacted_row, indexed_row
from lakeward.records.row.binary_array import nested_codec
from lakeward.records.row.row_codec import RowFormat

_FORMATS: dict[RowForm, RowFormat] = {
    RowForm.COMPACTED: compacted_row.codec,
    RowForm.KEY: compacted_row.codec,
    RowForm.INDEXED: indexed_row.codec,
}
_DAMAGED = (IndexError, ValueError, OverflowError, struct.error)
_UNFIT = (TypeError, ValueError, ArithmeticError, AttributeError, struct.error)


class _Tree:
    """Nodes and buffers collected depth first; `columns` puts them into one body."""

    def __init__(self) -> None:
        self.nodes: list[int] = []
        self.pieces: list[bytes | memoryview] = []

    def add(self, length: int, null_count: int, *pieces: bytes | memoryview) -> None:
        """One node and its buffers."""
        self.nodes += (length, null_count)
        self.pieces += pieces

    def add_flat(self, columns: Columns, nodes: slice, buffers: slice) -> None:
        """Some nodes and buffers of other columns."""
        self.nodes += columns.nodes[nodes]
        wanted = columns.buffers[buffers]
        view = columns.body.data
        self.pieces += [view[at : at + size] for at, size in zip(wanted[::2], wanted[1::2], strict=True)]

    def columns(self, rows: int) -> Columns:
        """All of it in one body."""
        body = bytearray()
        buffers: list[int] = []
        for piece in self.pieces:
            buffers += (len(body), len(piece))
            body += piece
            body += bytes(-len(body) % ALIGNMENT_BYTES)
        return Columns(rows, read_only(bytes(body)), self.nodes, buffers)


def unfold_nested(flat: Columns, program: RowProgram) -> Columns:
    """Columns whose nested ones are bytes, with those as trees."""
    tree = _Tree()
    for i, (type_, place) in enumerate(zip(program.types, program.first_buffers, strict=True)):
        if type_.root not in NESTED:
            count = 3 if i in program.runs else 2
            tree.add_flat(flat, slice(2 * i, 2 * i + 2), slice(2 * place, 2 * (place + count)))
            continue
        codec = nested_codec(type_, _FORMATS[program.form])
        try:
            values = [None if blob is None else codec.decode(blob) for blob in _blobs(flat, place)]
        except _DAMAGED as wrong:
            raise ErrorCode.CORRUPT_RECORD.error(f"A value is no {type_}, column {i}: {wrong}.") from wrong
        _plant(tree, values, type_)
    return tree.columns(flat.rows)


def fold_nested(columns: Columns, program: RowProgram) -> Columns:
    """Columns with trees, with those as bytes."""
    tree, places = _Tree(), places_of(program.types)
    for i, type_ in enumerate(program.types):
        node, buffer = places.nodes[i], places.buffers[i]
        if type_.root not in NESTED:
            tree.add_flat(columns, slice(2 * node, 2 * node + 2), slice(2 * buffer, 2 * places.buffers[i + 1]))
            continue
        codec = nested_codec(type_, _FORMATS[program.form])
        values = values_of(columns, type_, node, buffer)
        try:
            blobs = [b"" if v is None else codec.encode(v) for v in values]
        except _UNFIT as wrong:
            raise ErrorCode.INVALID_TARGET_COLUMN.error(
                f"A value does not fit column {i}, {type_}: {wrong}."
            ) from wrong
        tree.add(len(values), *_validity(values), _offsets(blobs), b"".join(blobs))
    return tree.columns(columns.rows)


def _plant(tree: _Tree, values: Sequence[Any], type_: DataType) -> None:
    """Add a column of these values."""
    present = [v for v in values if v is not None]
    match type_.root:
        case TypeRoot.ARRAY:
            assert type_.element is not None
            tree.add(len(values), *_validity(values), _offsets([v or () for v in values]))
            _plant(tree, [one for v in present for one in v], type_.element)
        case TypeRoot.MAP:
            assert type_.key is not None
            assert type_.value is not None
            pairs = [pair for v in present for pair in v]
            tree.add(len(values), *_validity(values), _offsets([v or () for v in values]))
            tree.add(len(pairs), 0, b"")
            _plant(tree, [k for k, _ in pairs], type_.key)
            _plant(tree, [v for _, v in pairs], type_.value)
        case TypeRoot.ROW:
            tree.add(len(values), *_validity(values))
            for i, field in enumerate(type_.fields):
                _plant(tree, [None if v is None else v[i] for v in values], field.type)
        case _:
            codec = compacted_row.codec((type_,))
            spans = Spans.of([codec.encode((v,)) for v in values])
            leaf = decode_flat(row_program((type_,), RowForm.COMPACTED), spans)
            tree.add_flat(leaf, slice(None), slice(None))


def values_of(columns: Columns, type_: DataType, node: int = 0, buffer: int = 0) -> list[Any]:
    """The values of one column, whose nodes and buffers begin at these places."""
    length = columns.nodes[2 * node]
    if type_.root not in NESTED:
        nodes, buffers = column_shape(type_)
        leaf = Columns(
            length,
            columns.body,
            columns.nodes[2 * node : 2 * (node + nodes)],
            columns.buffers[2 * buffer : 2 * (buffer + buffers)],
        )
        data, bounds = encode_flat(row_program((type_,), RowForm.COMPACTED), leaf)
        decode, raw, ends = compacted_row.codec((type_,)).decode, data.tobytes(), bounds.tolist()
        return [decode(raw[a:b])[0] for a, b in pairwise(ends)]
    valid = _valid(columns, buffer, length)
    if type_.root is TypeRoot.ROW:
        parts, node, buffer = [], node + 1, buffer + 1
        for field in type_.fields:
            parts.append(_child(columns, field.type, node, buffer, length))
            nodes, buffers = column_shape(field.type)
            node, buffer = node + nodes, buffer + buffers
        return [tuple(p[i] for p in parts) if ok else None for i, ok in enumerate(valid)]
    inner: list[Any]
    if type_.root is TypeRoot.ARRAY:
        assert type_.element is not None
        inner = values_of(columns, type_.element, node + 1, buffer + 2)
    else:
        assert type_.key is not None
        assert type_.value is not None
        keys = values_of(columns, type_.key, node + 2, buffer + 3)
        key_nodes, key_buffers = column_shape(type_.key)
        items = _child(columns, type_.value, node + 2 + key_nodes, buffer + 3 + key_buffers, len(keys))
        inner = list(zip(keys, items, strict=True))
    ends = _read_offsets(columns, buffer + 1, length, len(inner)).tolist()
    return [tuple(inner[ends[i] : ends[i + 1]]) if ok else None for i, ok in enumerate(valid)]


def _child(columns: Columns, type_: DataType, node: int, buffer: int, length: int) -> list[Any]:
    values = values_of(columns, type_, node, buffer)
    if len(values) != length:
        raise damage_error("the parts of a nested column differ in length")
    return values


def _blobs(flat: Columns, place: int) -> list[bytes | None]:
    """The bytes of each value of a byte column."""
    at, size = flat.buffers[2 * place + 4 : 2 * place + 6]
    ends = _read_offsets(flat, place + 1, flat.rows, size).tolist()
    raw, valid = flat.body[at : at + size].tobytes(), _valid(flat, place, flat.rows)
    return [raw[ends[i] : ends[i + 1]] if ok else None for i, ok in enumerate(valid)]


def _valid(columns: Columns, buffer: int, length: int) -> list[bool]:
    at, size = columns.buffers[2 * buffer : 2 * buffer + 2]
    if not size:
        return [True] * length
    if size < (length + 7) // 8:
        raise damage_error(f"validity bits of {length} values are cut off")
    bits = np.unpackbits(columns.body[at : at + size], count=length, bitorder="little")
    return [bool(bit) for bit in bits.tolist()]


def _read_offsets(columns: Columns, buffer: int, length: int, limit: int) -> I64:
    at, size = columns.buffers[2 * buffer : 2 * buffer + 2]
    if not length:
        return np.zeros(1, np.int64)
    if size < 4 * (length + 1):
        raise damage_error(f"offsets of {length} values are cut off")
    offsets = np.frombuffer(columns.body[at : at + 4 * (length + 1)].tobytes(), "<i4").astype(np.int64)
    if offsets[0] < 0 or offsets[-1] > limit or np.any(np.diff(offsets) < 0):
        raise damage_error("offsets are out of order")
    return offsets


def _validity(values: Sequence[Any]) -> tuple[int, bytes]:
    """The number of NULLs, and the validity bits when there are any."""
    present: U8 = np.array([v is not None for v in values], np.uint8)
    null_count = len(values) - int(present.sum())
    return null_count, np.packbits(present, bitorder="little").tobytes() if null_count else b""


def _offsets(values: Sequence[Any]) -> bytes:
    ends = np.zeros(len(values) + 1, np.int64)
    np.cumsum([len(v) for v in values], out=ends[1:])
    if ends[-1] >= 1 << 31:
        raise ErrorCode.RECORD_TOO_LARGE.error("A nested column is over 2 GB; write fewer rows at once.")
    return ends.astype("<i4").tobytes()
