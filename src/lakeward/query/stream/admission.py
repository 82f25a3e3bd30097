"""Admission: how far the next batch of a stream may go, shared fairly by the buckets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from lakeward.client.forms.results import BucketId
from lakeward.query.stream.stream_offset import Position


@dataclass(frozen=True, slots=True)
class ReadLimit:
    """At most this many rows, and about this many bytes; None is no limit."""

    rows: int | None = None
    bytes: int | None = None

    def in_rows(self, row_bytes: float | None) -> int | None:
        """Both limits as one of rows, at least one row; `row_bytes` is how large a row is about."""
        asked = [] if self.rows is None else [self.rows]
        if self.bytes is not None and row_bytes:
            asked.append(int(self.bytes / row_bytes))
        return max(min(asked), 1) if asked else None


def admit(
    starts: Mapping[BucketId, Position], ends: Mapping[BucketId, int], rows: int | None
) -> dict[BucketId, Position]:
    """How far each bucket goes: at most `rows` offsets in all, no bucket starved by a larger one.

    A state that was not read yet comes before the changes after it and counts with the offsets that led to it. It
    cannot be cut, so one of them is admitted whatever its size.
    """
    if rows is None:
        return {id_: Position(max(ends[id_], start.offset)) for id_, start in starts.items()}
    left = rows
    admitted: dict[BucketId, Position] = {}
    for id_, start in starts.items():
        if not start.is_state:
            continue
        is_first = left == rows
        if is_first or start.offset <= left:
            admitted[id_] = Position(start.offset)
            left = max(left - start.offset, 0)
        else:
            admitted[id_] = start
    behind = {id_: max(ends[id_] - s.offset, 0) for id_, s in starts.items() if not s.is_state}
    for id_, share in shares(behind, left).items():
        admitted[id_] = Position(starts[id_].offset + share)
    return {id_: admitted[id_] for id_ in starts}


def shares(behind: Mapping[BucketId, int], rows: int) -> dict[BucketId, int]:
    """So many rows divided: small backlogs whole, the rest in equal parts."""
    found = {}
    left = rows
    by_size = sorted(behind.items(), key=lambda item: (item[1], item[0].partition or "", item[0].bucket))
    for place, (id_, backlog) in enumerate(by_size):
        found[id_] = min(backlog, -(-left // (len(by_size) - place)))
        left -= found[id_]
    return found
