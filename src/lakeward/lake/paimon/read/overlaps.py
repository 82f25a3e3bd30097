"""Which files of a primary key table have to be merged: those that share keys, as far as their bounds tell, and those
that hold deleted rows. In all others every row is the newest of its key."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from lakeward.lake.paimon.manifest.manifests import FileEntry
from lakeward.lake.paimon.schema.binary_row import of_binary
from lakeward.model.data_types import DataType

_Identity = tuple[Any, ...]


def merged_files(entries: Iterable[FileEntry], key_types: Sequence[DataType]) -> set[_Identity]:
    """The identities of those live files of a table that only make sense together with others of their place."""
    places: dict[tuple[bytes, int], list[FileEntry]] = {}
    for entry in entries:
        places.setdefault((entry.partition, entry.bucket), []).append(entry)
    found: set[_Identity] = set()
    for files in places.values():
        found |= _of_place(files, key_types)
    return found


def _of_place(files: Sequence[FileEntry], key_types: Sequence[DataType]) -> set[_Identity]:
    found: set[_Identity] = set()
    for section in _sections(files, key_types):
        # A writer that does not tell how many deleted rows there are may have written some.
        if len(section) > 1 or section[0].file.get("_DELETE_ROW_COUNT") != 0:
            found.update(entry.identity for entry in section)
    return found


def _sections(files: Sequence[FileEntry], key_types: Sequence[DataType]) -> list[list[FileEntry]]:
    """Files in the order of their keys, cut where nothing before shares a key with anything behind."""
    if len(files) == 1:
        return [list(files)]
    try:
        ranged = sorted(((*_keys(entry, key_types), entry) for entry in files), key=lambda one: one[0])
        sections, high = [[ranged[0][2]]], ranged[0][1]
        for low, own_high, entry in ranged[1:]:
            if low > high:
                sections.append([entry])
            else:
                sections[-1].append(entry)
            high = max(high, own_high)
    except (TypeError, ValueError):  # keys that cannot be compared here
        return [list(files)]
    return sections


def _keys(entry: FileEntry, key_types: Sequence[DataType]) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    low, high = (of_binary(key_types, entry.file[name]) for name in ("_MIN_KEY", "_MAX_KEY"))
    if any(value is None or value != value for value in (*low, *high)):  # NaN is not itself
        raise ValueError("a bound without an order")
    return tuple(low), tuple(high)
