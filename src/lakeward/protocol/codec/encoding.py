"""One encoder per message class, written as Python source and compiled once; see decoding.py for why.

A message without payloads becomes one piece of bytes. One that carries payloads becomes a gather list, in which large
payloads are the caller's own buffers.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from functools import cache
from typing import Any

from lakeward.protocol.codec.shapes import Shape, carries_payload, shapes
from lakeward.protocol.codec.wire import Buffer, write_varint

Parts = list[Buffer]
#: Smaller payloads are cheaper copied than gathered.
_VIEW_BYTES_MIN = 4096


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


@cache
def flat_encoder(cls: Any) -> Callable[[Any], bytearray]:
    """The function that writes a message without payloads."""
    made: Callable[[Any], bytearray] = _compile(cls, flat_source(cls))
    return made


@cache
def carrier_encoder(cls: Any) -> Callable[[Any, Parts], int]:
    """The function that adds a message with payloads to a gather list and returns its size."""
    made: Callable[[Any, Parts], int] = _compile(cls, carrier_source(cls))
    return made


def _compile(cls: Any, source: str) -> Any:
    names: dict[str, Any] = {
        "varint": write_varint,
        "f32": struct.Struct("<f").pack,
        "f64": struct.Struct("<d").pack,
        "payload": _put_payload,
    }
    for shape in shapes(cls):
        if shape.message is not None:
            flat = not carries_payload(shape.message)
            names[f"encode_{shape.name}"] = _lazily(flat_encoder if flat else carrier_encoder, shape.message)
    exec(compile(source, f"<encoder of {cls.__name__}>", "exec"), names)  # noqa: S102 - our own source
    return names["encode"]


def _lazily(maker: Callable[[Any], Any], cls: Any) -> Callable[..., Any]:
    """An encoder that is made when it is first needed, since messages may contain themselves."""

    def encode(*arguments: Any) -> Any:
        return maker(cls)(*arguments)

    return encode


def flat_source(cls: Any) -> str:
    """The source for a message without payloads."""
    lines = ["def encode(message):", "    out = bytearray()"]
    for shape in shapes(cls):
        lines += _field(shape)
    return "\n".join([*lines, "    return out"])


def carrier_source(cls: Any) -> str:
    """The source for a message with payloads."""
    lines = ["def encode(message, parts):", "    out = bytearray()", "    size = 0"]
    for shape in shapes(cls):
        lines += _field(shape)
    return "\n".join([*lines, "    parts.append(out)", "    return size + len(out)"])


def _field(shape: Shape) -> list[str]:
    lines = [f"    value = message.{shape.name}"]
    if shape.packed:
        inner = [f"    inner += {expression}" for expression in _pieces(shape, "one")]
        tag = write_varint(shape.packed_tag)
        lines += ["    if value:", "        inner = bytearray()", "        for one in value:"]
        lines += [f"        {line}" for line in inner]
        return [*lines, f"        out += {tag!r}", "        out += varint(len(inner))", "        out += inner"]
    if shape.repeated:
        return [*lines, "    for one in value:", *_indent(_write(shape, "one"), 8)]
    if shape.required:
        return [*lines, *_indent(_write(shape, "value"), 4)]
    return [*lines, "    if value is not None:", *_indent(_write(shape, "value"), 8)]


def _indent(lines: list[str], width: int) -> list[str]:
    return [" " * width + line for line in lines]


def _write(shape: Shape, value: str) -> list[str]:
    """The lines that write one value with its tag."""
    tag = f"out += {write_varint(shape.tag)!r}"
    if shape.kind == "payload":
        return [tag, f"out, grown = payload({value}, out, parts)", "size += grown"]
    if shape.message is not None and carries_payload(shape.message):
        return [
            "inner = []",
            f"length = encode_{shape.name}({value}, inner)",
            tag,
            "out += varint(length)",
            "parts.append(out)",
            "parts += inner",
            "size += len(out) + length",
            "out = bytearray()",
        ]
    if shape.message is not None:
        return [f"inner = encode_{shape.name}({value})", tag, "out += varint(len(inner))", "out += inner"]
    if shape.kind == "str":
        return [f"text = {value}.encode()", tag, "out += varint(len(text))", "out += text"]
    return [tag, *(f"out += {piece}" for piece in _pieces(shape, value))]


def _pieces(shape: Shape, value: str) -> list[str]:
    """The expressions whose bytes are the value."""
    match shape.kind:
        case "bytes":
            return [f"varint(len({value}))", value]
        case "f32" | "f64":
            return [f"{shape.kind}({value})"]
        case _:
            return [f"varint({value})"]


def _put_payload(value: Buffer | list[Buffer], out: bytearray, parts: Parts) -> tuple[bytearray, int]:
    """Write a payload's length, then gather or copy it; returns where to go on writing, and what was put away."""
    pieces = value if isinstance(value, list) else [value]
    size = sum(map(len, pieces))
    out += write_varint(size)
    if size < _VIEW_BYTES_MIN:
        for piece in pieces:
            out += piece
        return out, 0
    parts.append(out)
    parts += pieces
    return bytearray(), len(out) + size
