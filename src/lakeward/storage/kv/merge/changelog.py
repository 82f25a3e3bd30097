"""What a change of state looks like in the log: pure, record by record. The measure of the vectorised path.

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
from collections.abc import Iterable, MutableMapping
from typing import NamedTuple

from lakeward.model.table import TableInfo
from lakeward.options import table as table_options
from lakeward.storage.kv.merge.row_merger import Fate, Merged, RowMerger


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


def image_of(table: TableInfo) -> Image:
    """The image that a table has chosen."""
    return Image(table_options.CHANGELOG_IMAGE.read(table.descriptor.properties))


def is_blind(table: TableInfo, merger: RowMerger | None) -> bool:
    """Whether upserts are logged without a look at the old row; `merger` is what `merger_for` has given."""
    return merger is None and image_of(table) is Image.WAL and not table.schema.auto_increment


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


def apply_records(
    state: MutableMapping[bytes, bytes],
    records: Iterable[tuple[bytes, bytes | None]],
    merger: RowMerger,
    image: Image = Image.FULL,
    *,
    blind: bool = False,
) -> list[Change]:
    """Merge records, (key, value) or (key, None) for a deletion, into the state, in order; returns the changelog."""
    log: list[Change] = []
    for key, new in records:
        old = state.get(key)
        merged = merger.delete(old) if new is None else merger.upsert(old, new)
        if blind and isinstance(merged, bytes):
            log.append(Change(ChangeType.UPDATE_AFTER, merged))
        else:
            log += changes(old, merged, image)
        if isinstance(merged, bytes):
            state[key] = merged
        elif merged is Fate.REMOVE:
            del state[key]
    return log
