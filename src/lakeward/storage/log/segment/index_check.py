"""Do the index files of a closed segment point to where its batches are? For who has just read all of them."""

from __future__ import annotations

import struct
from collections.abc import Collection, Mapping
from pathlib import Path

from lakeward.runtime.files.port import Files
from lakeward.storage.log.segment.segment import INDEX, TIME_INDEX

_OFFSET_ENTRY = struct.Struct(">ii")
_TIME_ENTRY = struct.Struct(">qi")


def damaged_indexes(
    disk: Files, segment: Path, base: int, ends: Mapping[int, int], times_ms: Collection[int]
) -> list[tuple[Path, str]]:
    """The index files that are wrong, and why; one that is missing is made again and is not wrong.

    `ends` are the last offsets of the segment's batches by the position where each starts, `times_ms` the times that an
    entry can name.
    """
    found = []
    for suffix in (INDEX, TIME_INDEX):
        path = segment.with_suffix(suffix)
        try:
            data = disk.read_bytes(path)
        except FileNotFoundError:
            continue
        except OSError as wrong:
            found.append((path, f"it cannot be read: {wrong.strerror}"))
            continue
        why = _wrong_offsets(data, base, ends) if suffix == INDEX else _wrong_times(data, base, ends, times_ms)
        if why is not None:
            found.append((path, why))
    return found


def _wrong_offsets(data: bytes, base: int, ends: Mapping[int, int]) -> str | None:
    if len(data) % _OFFSET_ENTRY.size:
        return f"its {len(data)} bytes are no whole number of entries"
    for number, (offset, position) in enumerate(_OFFSET_ENTRY.iter_unpack(data)):
        if ends.get(position) != base + offset:
            return f"entry {number} says that the batch at byte {position} ends at offset {base + offset}"
    return None


def _wrong_times(data: bytes, base: int, ends: Mapping[int, int], times_ms: Collection[int]) -> str | None:
    if len(data) % _TIME_ENTRY.size:
        return f"its {len(data)} bytes are no whole number of entries"
    last, before = max(ends.values(), default=base), -1
    for number, (time_ms, offset) in enumerate(_TIME_ENTRY.iter_unpack(data)):
        if time_ms not in times_ms or not before < offset <= last - base:
            return f"entry {number} says that time had reached {time_ms} at offset {base + offset}"
        before = offset
    return None
