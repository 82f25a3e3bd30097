"""One decoder per message class, written as Python source and compiled once.

A loop over a table of readers costs three times as much: every field would be a dictionary lookup and two calls.
`print(decoder_source(SomeRequest))` shows what runs.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Generator
from functools import cache
from typing import Any, TypeVar

from lakeward.errors import ErrorCode, LakewardError
from lakeward.protocol.codec.shapes import Shape, has_lists, shapes
from lakeward.protocol.codec.wire import LENGTH, Buffer, corrupt, read_varint, skip

#: More levels than any honest filter has.
_DEPTH_MAX = 100

#: Buffer, start, end, depth, and how many elements of lists may still come (a list of one number, counted down).
Decoder = Callable[[Buffer, int, int, int, list[int]], Any]
#: The same, a bit at a time: yields after some elements.
SteppedDecoder = Callable[[Buffer, int, int, int, list[int]], Generator[None, None, Any]]
_ELEMENTS_A_STEP = 64
_ANY_NUMBER = 1 << 62
M = TypeVar("M")


def decode(cls: type[M], data: Buffer, elements_max: int = _ANY_NUMBER) -> M:
    """The message in these bytes. Payload fields are views into `data`; its lists have this many elements in all."""
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


@cache
def decoder(cls: Any) -> Decoder:
    """The function that reads a message of this class between two positions of a buffer."""
    made: Decoder = _compile(cls, in_steps=False)
    return made


@cache
def stepped_decoder(cls: Any) -> SteppedDecoder:
    """The generator that reads a message of this class, for those that name thousands of things."""
    made: SteppedDecoder = _compile(cls, in_steps=True)
    return made


def _compile(cls: Any, *, in_steps: bool) -> Any:
    names: dict[str, Any] = {
        "CLS": cls,
        "varint": read_varint,
        "skip": skip,
        "corrupt": corrupt,
        "too_many": _too_many,
        "f32": struct.Struct("<f").unpack_from,
        "f64": struct.Struct("<d").unpack_from,
        "ABSENT": object(),
    }
    for shape in shapes(cls):
        if shape.message is not None:
            names[f"decode_{shape.name}"] = _lazily(
                stepped_decoder if in_steps and has_lists(shape.message) else decoder, shape.message
            )
    source = decoder_source(cls, in_steps)
    exec(compile(source, f"<decoder of {cls.__name__}>", "exec"), names)  # noqa: S102 - our own source
    return names["decode"]


def _lazily(maker: Callable[[Any], Decoder], cls: Any) -> Decoder:
    """A decoder that is made when it is first needed, since messages may contain themselves."""

    def decode(data: Buffer, position: int, end: int, depth: int, left: list[int]) -> Any:
        return maker(cls)(data, position, end, depth, left)

    return decode


def _too_many() -> LakewardError:
    return ErrorCode.OPERATION_NOT_ATTEMPTED.error(
        "The request names more buckets, tables or other elements than the server takes at once"
        " (option 'server.request.max-elements'). Ask for fewer in one request."
    )


def decoder_source(cls: Any, in_steps: bool = False) -> str:
    """The decoder's source."""
    fields = shapes(cls)
    lines = ["def decode(data, at, end, depth, left):"]
    lines += [f"    {s.name} = {'[]' if s.repeated else 'ABSENT' if s.required else 'None'}" for s in fields]
    lines += [
        "    while at < end:",
        "        tag = data[at]",
        "        at += 1",
        "        if tag > 127:",
        "            tag, at = varint(data, at - 1, end)",
    ]
    word = "if"
    for shape in fields:
        lines += _branch(word, shape.tag, _one(shape, in_steps))
        word = "elif"
        if shape.repeated and shape.wire_type != LENGTH:  # numbers come packed or one by one, whatever is declared
            lines += _branch(word, shape.packed_tag, _many(shape, in_steps))
    rest = ["at = skip(data, at, end, tag & 7)"]
    lines += [f"        {rest[0]}"] if word == "if" else ["        else:", f"            {rest[0]}"]
    lines += ["    if at != end:", f'        raise corrupt("{cls.__name__} is cut off")']
    for shape in fields:
        if shape.required:
            lines += [
                f"    if {shape.name} is ABSENT:",
                f'        raise corrupt("{cls.__name__} lacks the required field {shape.name}")',
            ]
    values = ", ".join(f"{s.name}=tuple({s.name})" if s.repeated else f"{s.name}={s.name}" for s in fields)
    lines.append(f"    return CLS({values})")
    if in_steps:
        lines.append("    yield")  # a generator, also where it has no list
    return "\n".join(lines)


def _branch(word: str, tag: int, body: list[str]) -> list[str]:
    return [f"        {word} tag == {tag}:", *(f"            {line}" for line in body)]


def _one(shape: Shape, in_steps: bool) -> list[str]:
    """Read one value and keep it."""
    lines, value = _value(shape)
    if in_steps and shape.message is not None and has_lists(shape.message):
        value = f"(yield from {value})"
    if not shape.repeated:
        return [*lines, f"{shape.name} = {value}"]
    return [*lines, f"{shape.name}.append({value})", *_limit(in_steps)]


def _many(shape: Shape, in_steps: bool) -> list[str]:
    """Read numbers in one piece."""
    lines, value = _value(shape)
    inner = [*lines, f"{shape.name}.append({value})", *_limit(in_steps)]
    return [*_length(), "while at < stop:", *(f"    {line}" for line in inner)]


def _limit(in_steps: bool) -> list[str]:
    step = [f"if left[0] % {_ELEMENTS_A_STEP} == 0:", "    yield"] if in_steps else []
    return ["left[0] -= 1", "if left[0] < 0:", "    raise too_many()", *step]


_VARINT = ["value = data[at]", "at += 1", "if value > 127:", "    value, at = varint(data, at - 1, end)"]


def _value(shape: Shape) -> tuple[list[str], str]:
    """The lines that read one value, and the expression that is the value."""
    match shape.kind:
        case "bool":
            return _VARINT, "value != 0"
        case "i32":
            signed = ["    value &= 0xFFFFFFFF", "    if value > 0x7FFFFFFF:", "        value -= 1 << 32"]
            return [*_VARINT, *signed], "value"
        case "i64":
            return [*_VARINT, "    if value > 0x7FFFFFFFFFFFFFFF:", "        value -= 1 << 64"], "value"
        case "f32" | "f64" as kind:
            width = 4 if kind == "f32" else 8
            lines = [f"at += {width}", "if at > end:", '    raise corrupt("a number is cut off")']
            return lines, f"{kind}(data, at - {width})[0]"
    lines = [*_length(), "start, at = at, stop"]
    match shape.kind:
        case "str":
            return lines, 'str(data[start:stop], "utf-8")'
        case "bytes":
            return lines, "bytes(data[start:stop])"
        case "payload":
            return lines, "data[start:stop]"
    deep = [f"if depth > {_DEPTH_MAX}:", '    raise corrupt("it is nested too deeply")']
    return [*lines, *deep], f"decode_{shape.name}(data, start, stop, depth + 1, left)"


def _length() -> list[str]:
    return [
        "stop = data[at]",
        "at += 1",
        "if stop > 127:",
        "    stop, at = varint(data, at - 1, end)",
        "stop += at",
        "if stop > end:",
        '    raise corrupt("a value is cut off")',
    ]
