"""What the codec knows of a message class, read from its declaration once."""

from __future__ import annotations

import dataclasses
import types
import typing
from collections.abc import Iterator
from functools import cache
from typing import Any

from lakeward.protocol.codec.wire import FIXED32, FIXED64, LENGTH, VARINT

_WIRE_TYPES = {
    "bool": VARINT,
    "i32": VARINT,
    "i64": VARINT,
    "f32": FIXED32,
    "f64": FIXED64,
    "str": LENGTH,
    "bytes": LENGTH,
    "payload": LENGTH,
}


@dataclasses.dataclass(frozen=True, slots=True)
class Shape:
    """One field: its name and number, its kind (a word of declare.py, or "message"), and how often it may occur."""

    name: str
    number: int
    kind: str
    message: type | None
    required: bool
    repeated: bool
    packed: bool

    @property
    def wire_type(self) -> int:
        """How a single value is written."""
        return _WIRE_TYPES.get(self.kind, LENGTH)

    @property
    def tag(self) -> int:
        """Number and wire type of a single value."""
        return self.number << 3 | self.wire_type

    @property
    def packed_tag(self) -> int:
        """Number and wire type of many numbers in one piece."""
        return self.number << 3 | LENGTH


@cache
def shapes(cls: Any) -> tuple[Shape, ...]:
    """The fields of a message class in declaration order."""
    hints = typing.get_type_hints(cls, include_extras=True)
    found = []
    for declared in dataclasses.fields(cls):
        kind, repeated = _kind(hints[declared.name])
        found.append(
            Shape(
                name=declared.name,
                number=declared.metadata["number"],
                kind=kind if isinstance(kind, str) else "message",
                message=None if isinstance(kind, str) else kind,
                required=declared.default is dataclasses.MISSING,
                repeated=repeated,
                packed=declared.metadata["packed"],
            )
        )
    return tuple(found)


@cache
def carries_payload(cls: Any) -> bool:
    """Whether a message or anything inside it has a payload field."""
    return any(shape.kind == "payload" for shape in _all_shapes(cls))


@cache
def has_lists(cls: Any) -> bool:
    """Whether a message or anything inside it may name many things."""
    return any(shape.repeated for shape in _all_shapes(cls))


def _all_shapes(cls: Any) -> Iterator[Shape]:
    """The fields of a message and of those inside it; messages may contain themselves."""
    seen: set[Any] = set()
    to_see = [cls]
    while to_see:
        one = to_see.pop()
        if one not in seen:
            seen.add(one)
            yield from shapes(one)
            to_see += [shape.message for shape in shapes(one) if shape.message is not None]


def _kind(hint: Any) -> tuple[str | type, bool]:
    if typing.get_origin(hint) is tuple:
        return _kind(typing.get_args(hint)[0])[0], True
    if typing.get_origin(hint) in {types.UnionType, typing.Union}:
        (inner,) = (a for a in typing.get_args(hint) if a is not type(None))
        return _kind(inner)
    if metadata := getattr(hint, "__metadata__", None):
        return str(metadata[0]), False
    return (hint.__name__ if hint in {bool, str, bytes} else hint), False
