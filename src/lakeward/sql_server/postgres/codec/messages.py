"""Messages of the Postgres protocol, version 3, as bytes: what a server says, and how what a client says is cut up.

A message is a letter, a length of four bytes that counts itself, and a body. The first one of a client has no letter.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

PROTOCOL_3 = 196608
SSL_REQUEST = 80877103
GSS_REQUEST = 80877104
CANCEL_REQUEST = 80877102

PARSE_COMPLETE = b"1\0\0\0\4"
BIND_COMPLETE = b"2\0\0\0\4"
CLOSE_COMPLETE = b"3\0\0\0\4"
NO_DATA = b"n\0\0\0\4"
EMPTY_QUERY = b"I\0\0\0\4"
PORTAL_SUSPENDED = b"s\0\0\0\4"
COPY_DONE = b"c\0\0\0\4"

_INT = struct.Struct("!i")
_SHORT = struct.Struct("!h")
_COLUMN = struct.Struct("!ihihih")


class ProtocolError(Exception):
    """What a client sent makes no sense; the connection ends."""


@dataclass(frozen=True, slots=True)
class Column:
    """How one column of an answer is described."""

    name: str
    oid: int
    size: int
    modifier: int = -1


def message(letter: bytes, body: bytes = b"") -> bytes:
    """One message."""
    return letter + _INT.pack(len(body) + 4) + body


def text(value: str) -> bytes:
    """A string as the protocol has it; it cannot hold a NUL."""
    return value.replace("\0", "").encode() + b"\0"


def authentication(kind: int, body: bytes = b"") -> bytes:
    """What is asked of a client that wants in: 0 nothing more, 3 a password, 10 to 12 SASL."""
    return message(b"R", _INT.pack(kind) + body)


def parameter_status(name: str, value: str) -> bytes:
    """A setting of the session that the client should know."""
    return message(b"S", text(name) + text(value))


def backend_key(number: int, secret: int) -> bytes:
    """What the client shows to cancel a question of this session."""
    return message(b"K", struct.pack("!II", number, secret))


def ready(status: bytes) -> bytes:
    """The next question may come: `I` outside a transaction, `T` inside, `E` in one that has failed."""
    return message(b"Z", status)


def negotiate(unknown: Sequence[str]) -> bytes:
    """Version 3.0 it is, without these options."""
    return message(b"v", _INT.pack(0) + _INT.pack(len(unknown)) + b"".join(map(text, unknown)))


def row_description(columns: Sequence[Column], formats: Sequence[int]) -> bytes:
    """The columns of the rows that follow."""
    parts = [_SHORT.pack(len(columns))]
    for column, form in zip(columns, formats, strict=True):
        parts.append(text(column.name) + _COLUMN.pack(0, 0, column.oid, column.size, column.modifier, form))
    return message(b"T", b"".join(parts))


def parameter_description(oids: Sequence[int]) -> bytes:
    """The types of a statement's parameters."""
    return message(b"t", _SHORT.pack(len(oids)) + b"".join(map(_INT.pack, oids)))


def command_complete(tag: str) -> bytes:
    """It is done: `SELECT 5`, `SET`."""
    return message(b"C", text(tag))


def copy_out(is_binary: bool, columns: int) -> bytes:
    """Rows follow as a stream of bytes."""
    form = int(is_binary)
    return message(b"H", bytes([form]) + _SHORT.pack(columns) + _SHORT.pack(form) * columns)


def notice(fields: Mapping[str, str]) -> bytes:
    """A warning."""
    return message(b"N", _fields(fields))


def error(fields: Mapping[str, str]) -> bytes:
    """What went wrong: `S` severity, `C` state, `M` message, `H` hint, `P` position."""
    return message(b"E", _fields(fields))


def _fields(fields: Mapping[str, str]) -> bytes:
    return b"".join(key.encode() + text(value) for key, value in fields.items()) + b"\0"


@dataclass(slots=True)
class Body:
    """The body of a client's message, read from left to right; ProtocolError where it ends too early."""

    data: bytes
    at: int = field(default=0)

    def take(self, size: int) -> bytes:
        """That many bytes."""
        if size < 0 or self.at + size > len(self.data):
            raise ProtocolError("a message is shorter than it says")
        found = self.data[self.at : self.at + size]
        self.at += size
        return found

    def short(self) -> int:
        """A number of two bytes."""
        return int(_SHORT.unpack(self.take(2))[0])

    def number(self) -> int:
        """A number of four bytes."""
        return int(_INT.unpack(self.take(4))[0])

    def text(self) -> str:
        """A string that ends with a NUL."""
        end = self.data.find(b"\0", self.at)
        if end < 0:
            raise ProtocolError("a string of a message has no end")
        found = self.data[self.at : end]
        self.at = end + 1
        try:
            return found.decode()
        except UnicodeDecodeError:
            raise ProtocolError("a string of a message is not UTF-8") from None

    def shorts(self) -> list[int]:
        """A list of numbers of two bytes."""
        return [self.short() for _ in range(self._count())]

    def oids(self) -> list[int]:
        """A list of numbers of types."""
        return [self.number() & 0xFFFFFFFF for _ in range(self._count())]

    def values(self) -> list[bytes | None]:
        """A list of values, of which some are NULL."""
        found: list[bytes | None] = []
        for _ in range(self._count()):
            size = self.number()
            found.append(None if size == -1 else self.take(size))
        return found

    def _count(self) -> int:
        return self.short() & 0xFFFF


def startup_options(body: Body) -> dict[str, str]:
    """The pairs of a client's first message."""
    found: dict[str, str] = {}
    while (key := body.text()) != "":
        found[key] = body.text()
    return found


def join_messages(parts: Iterable[bytes]) -> bytes:
    """Several messages as one write."""
    return b"".join(parts)
