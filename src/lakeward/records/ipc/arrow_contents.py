"""The contents of an Arrow message against its schema: offsets, text, numbers in their ranges, compressed bytes.

Run behind `check_structure`. Whole columns at a time; a batch is decompressed for it, one buffer after the other.
Values that are NULL are nobody's, and may be anything.
"""

from __future__ import annotations

import struct
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lakeward.model.data_types import DataType, TypeRoot
from lakeward.records.ipc.arrow_message import NO_CODEC, Buffer, damage_error
from lakeward.records.ipc.arrow_structure import CheckedMessage, Node
from lakeward.records.ipc.buffer_codecs import BufferCodec, codec_of_id

_I64 = struct.Struct("<q")
_LENGTH_BYTES = 8
_STORED_RAW = -1
_DAY_S = 86_400
#: So many values are looked at one by one sooner than by numpy.
_FEW = 16
_CONTINUES = 0x80
"""The two highest bits of a byte that is not the first of its character."""

I32 = NDArray[np.int32]
Bools = NDArray[np.bool_]


class _Buffers:
    """The buffers of a message in their order, decompressed as they are asked for."""

    def __init__(self, data: Buffer, checked: CheckedMessage) -> None:
        message = checked.message
        self._body = memoryview(data)[message.body_at : message.body_at + message.body_bytes]
        self._places = message.buffers
        self._number = 0
        self._codec: BufferCodec | None = codec_of_id(message.codec) if message.codec != NO_CODEC else None
        #: Nothing is wrong with buffers of plain numbers, whatever they hold; compressed ones may be damaged.
        self.may_be_passed_over = self._codec is None

    def pass_over(self, count: int) -> None:
        self._number += 2 * count

    def next(self) -> memoryview | bytes:
        at, size = self._places[self._number : self._number + 2]
        self._number += 2
        if self._codec is None or not size:
            return self._body[at : at + size]
        (raw,) = _I64.unpack_from(self._body, at)
        packed = self._body[at + _LENGTH_BYTES : at + size]
        return packed if raw == _STORED_RAW else self._codec.decompress(packed, raw)


def check_contents(data: Buffer, checked: CheckedMessage, schema_nodes: tuple[Node, ...]) -> None:
    """Every value of the message; CORRUPT_RECORD names the column of one that readers could not read."""
    buffers, numbers = _Buffers(data, checked), checked.nodes
    for i, node in enumerate(schema_nodes):
        length, nulls = numbers[2 * i], numbers[2 * i + 1]
        if not nulls and node.is_plain and buffers.may_be_passed_over:
            buffers.pass_over(1 + len(node.buffers))
            continue
        validity = buffers.next()
        valid = _valid(node, validity, length, nulls) if nulls else None
        parts = [buffers.next() for _ in node.buffers]
        if not length or node.type is None:
            continue
        match node.type.root:
            case TypeRoot.CHAR | TypeRoot.STRING:
                first, last = _span(node, parts[0], length, len(parts[1]))
                text = bytes(parts[1][first:last])
                if not text.isascii():
                    _check_text(node, text, np.frombuffer(parts[0], "<i4", length + 1), valid)
            case TypeRoot.BYTES:
                _span(node, parts[0], length, len(parts[1]))
            case TypeRoot.ARRAY | TypeRoot.MAP:
                _span(node, parts[0], length, numbers[2 * i + 2])
            case TypeRoot.DECIMAL:
                _refuse(node, _too_many_digits(parts[0], length, node.type), valid)
            case TypeRoot.TIME:
                _refuse(node, _no_time_of_day(parts[0], length, node.type), valid)
            case _:
                pass


def _valid(node: Node, validity: memoryview | bytes, length: int, nulls: int) -> Bools:
    bits = np.unpackbits(np.frombuffer(validity, np.uint8, (length + 7) >> 3), count=length, bitorder="little")
    valid = bits.view(np.bool_)
    if length - int(np.count_nonzero(valid)) != nulls:
        raise damage_error(f"column {node.name} says it has {nulls} NULL and has another number of them")
    return valid


def _span(node: Node, raw: memoryview | bytes, length: int, end: int) -> tuple[int, int]:
    """Where the first value begins and the last one ends; offsets may not fall, nor leave what they point into."""
    if length <= _FEW:
        few = struct.unpack_from(f"<{length + 1}i", raw)
        first, last, falls = few[0], few[-1], any(b < a for a, b in pairwise(few))
    else:
        offsets: I32 = np.frombuffer(raw, "<i4", length + 1)
        first, last, falls = int(offsets[0]), int(offsets[-1]), bool((offsets[1:] < offsets[:-1]).any())
    if first < 0 or last > end or falls:
        raise damage_error(f"the offsets of column {node.name} fall, or leave its {end} bytes or elements")
    return first, last


def _check_text(node: Node, text: bytes, offsets: I32, valid: Bools | None) -> None:
    first, last = int(offsets[0]), int(offsets[-1])
    try:
        text.decode()
        begins = offsets[:-1][offsets[:-1] < last] - first
        if not bool(((np.frombuffer(text, np.uint8)[begins] & 0xC0) == _CONTINUES).any()):
            return
    except UnicodeDecodeError:
        pass
    # What lies under a NULL may be anything, so a doubtful column is looked at value by value.
    for i in range(len(offsets) - 1) if valid is None else np.flatnonzero(valid):
        try:
            text[offsets[i] - first : offsets[i + 1] - first].decode()
        except UnicodeDecodeError as wrong:
            raise damage_error(f"column {node.name} has text in row {i} that is not UTF-8") from wrong


def _too_many_digits(raw: memoryview | bytes, length: int, type_: DataType) -> Bools:
    assert type_.precision is not None
    words = np.frombuffer(raw, "<u8", 2 * length).reshape(-1, 2)
    low, high = words[:, 0], words[:, 1].view(np.int64)
    limit = 10**type_.precision
    most_low, most_high = np.uint64((limit - 1) & (1 << 64) - 1), np.int64((limit - 1) >> 64)
    least_low, least_high = np.uint64((1 - limit) & (1 << 64) - 1), np.int64((1 - limit) >> 64)
    too_much: Bools = (high > most_high) | ((high == most_high) & (low > most_low))
    too_little: Bools = (high < least_high) | ((high == least_high) & (low < least_low))
    outside: Bools = too_much | too_little
    return outside


def _no_time_of_day(raw: memoryview | bytes, length: int, type_: DataType) -> Bools:
    assert type_.precision is not None
    units = 10 ** (3 * ((type_.precision + 2) // 3))
    values: NDArray[Any] = np.frombuffer(raw, "<i4" if units <= 1000 else "<i8", length)
    outside: Bools = (values < 0) | (values >= _DAY_S * units)
    return outside


def _refuse(node: Node, is_bad: Bools, valid: Bools | None) -> None:
    if valid is not None:
        is_bad = is_bad & valid
    if bool(is_bad.any()):
        raise damage_error(f"column {node.name} has a value in row {int(is_bad.argmax())} that is no {node.type}")
