"""What a change of state looks like in the log: pure, record by record.

    change                     image FULL           image WAL
    a row for a new key        +I new               +I new
    another row for a key      -U old, +U new       +U new
    a row is gone              -D old               -D old
    nothing happened           –                    –

A table with image WAL, without merge engine, target columns and auto-increment column does not look for the old row of
an upsert: all are +U. Only deletes are looked up there.
"""

from __future__ import annotations

import enum
from typing import NamedTuple

from lakeward.storage.kv.merge.row_merger import Fate, Merged


class ChangeType(enum.IntEnum):
    """What a record of a changelog says; the number is the one on the wire."""

    APPEND = 0
    INSERT = 1
    UPDATE_BEFORE = 2
    UPDATE_AFTER = 3
    DELETE = 4


class Image(enum.StrEnum):
    """Whether the changelog of an update holds the old row too."""

    FULL = "FULL"
    WAL = "WAL"


class Change(NamedTuple):
    """One record of the changelog. `value` is a stored value: `schema_id: i16 | row`."""

    type: ChangeType
    value: bytes


def changes(old: bytes | None, merged: Merged, image: Image) -> tuple[Change, ...]:
    """The records for what became of a key."""
    if merged is Fate.KEEP:
        return ()
    if merged is Fate.REMOVE:
        return () if old is None else (Change(ChangeType.DELETE, old),)
    if old is None:
        return (Change(ChangeType.INSERT, merged),)
    after = Change(ChangeType.UPDATE_AFTER, merged)
    return (after,) if image is Image.WAL else (Change(ChangeType.UPDATE_BEFORE, old), after)
