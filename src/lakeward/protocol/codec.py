"""Encode and decode any declared message.

Payload fields come out as views into the frame and go in as parts of a gather list, so that a megabyte of records
costs the same as a byte.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any, TypeVar

from lakeward.protocol.decoding import decoder, stepped_decoder
from lakeward.protocol.encoding import Parts, carrier_encoder, flat_encoder
from lakeward.protocol.shapes import carries_payload
from lakeward.protocol.wire import Buffer, corrupt

__all__ = ["Parts", "decode", "decode_in_steps", "encode", "encode_parts"]

M = TypeVar("M")
_ANY_NUMBER = 1 << 62


def decode(cls: type[M], data: Buffer, elements_max: int = _ANY_NUMBER) -> M:
    """The message in these bytes. Payload fields are views into `data`; its lists have so many elements in all."""
    key: Any = cls
    try:
        message: M = decoder(key)(data, 0, len(data), 0, [elements_max])
    except (IndexError, UnicodeDecodeError) as wrong:
        raise corrupt(f"{cls.__name__}: {wrong}") from wrong
    return message


def decode_in_steps(cls: type[M], data: Buffer, elements_max: int = _ANY_NUMBER) -> Generator[None, None, M]:
    """As `decode`, with a break after some elements; the bytes have to stay as they are meanwhile."""
    key: Any = cls
    try:
        message: M = yield from stepped_decoder(key)(data, 0, len(data), 0, [elements_max])
    except (IndexError, UnicodeDecodeError) as wrong:
        raise corrupt(f"{cls.__name__}: {wrong}") from wrong
    return message


def encode(message: Any) -> bytes:
    """The message as one piece of bytes."""
    return b"".join(encode_parts(message))


def encode_parts(message: Any) -> Parts:
    """The message as a gather list; large payloads are the caller's own buffers."""
    cls: Any = type(message)
    if not carries_payload(cls):
        return [flat_encoder(cls)(message)]
    parts: Parts = []
    carrier_encoder(cls)(message, parts)
    return parts
