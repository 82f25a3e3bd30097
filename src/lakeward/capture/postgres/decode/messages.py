"""Messages of `pgoutput` that are read one at a time: relations and truncations; and what we tell the server."""

from __future__ import annotations

import struct
from dataclasses import dataclass

from lakeward.errors import ErrorCode

#: Times of PostgreSQL count from the year 2000.
EPOCH_MS = 946_684_800_000
_COLUMN = struct.Struct(">Ii")
_STATUS = struct.Struct(">cQQQQB")


@dataclass(frozen=True, slots=True)
class RelationColumn:
    """A column of a relation as the stream tells it."""

    name: str
    type_oid: int
    type_modifier: int


@dataclass(frozen=True, slots=True)
class Relation:
    """What the rows that follow look like; `identity` is d, n, f or i."""

    oid: int
    space: str
    name: str
    identity: str
    columns: tuple[RelationColumn, ...]


def read_relation(message: bytes) -> Relation:
    """A relation message, without its head."""
    try:
        (oid,) = struct.unpack_from(">I", message, 1)
        space, at = _text(message, 5)
        name, at = _text(message, at)
        identity = chr(message[at])
        (count,) = struct.unpack_from(">H", message, at + 1)
        at += 3
        columns = []
        for _ in range(count):
            column, at = _text(message, at + 1)
            columns.append(RelationColumn(column, *_COLUMN.unpack_from(message, at)))
            at += _COLUMN.size
    except (struct.error, ValueError, IndexError) as wrong:
        raise ErrorCode.CORRUPT_MESSAGE.error("PostgreSQL sent a relation that cannot be read.") from wrong
    return Relation(oid, space or "pg_catalog", name, identity, tuple(columns))


def read_truncate(message: bytes) -> tuple[int, ...]:
    """The relations that a truncate message names."""
    try:
        (count,) = struct.unpack_from(">I", message, 1)
        return struct.unpack_from(f">{count}I", message, 6)
    except struct.error as wrong:
        raise ErrorCode.CORRUPT_MESSAGE.error("PostgreSQL sent a truncation that cannot be read.") from wrong


def status_update(lsn: int, *, wants_reply: bool) -> bytes:
    """How far we are; the server may forget what was before for this slot."""
    return _STATUS.pack(b"r", lsn, lsn, lsn, 0, wants_reply)


def committed_ms(time_us: int) -> int:
    """A commit's time in ms since 1970."""
    return time_us // 1000 + EPOCH_MS


def _text(message: bytes, at: int) -> tuple[str, int]:
    end = message.index(b"\0", at)
    return message[at:end].decode(), end + 1
