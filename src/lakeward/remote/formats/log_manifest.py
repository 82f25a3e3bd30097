"""LogManifest: which segments of a bucket's log are in remote storage. Pure; the JSON is that of Apache Fluss.

A segment's file holds the offsets from `start_offset` up to, not including, `end_offset`. Where a later segment covers
the same offsets again, the earlier one counts only up to there: its logical range is smaller than its file.
"""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from lakeward.remote.formats.layout import BucketPlace

VERSION = 1
_NOTHING = -1


@dataclass(frozen=True, slots=True)
class RemoteSegment:
    """A segment in remote storage. Offsets and size are those of its file; the logical range is what counts of it."""

    segment_id: str
    start_offset: int
    end_offset: int
    time_ms_max: int
    size_bytes: int
    logical_start_offset: int
    logical_end_offset: int

    @classmethod
    def whole(
        cls, segment_id: str, start_offset: int, end_offset: int, time_ms_max: int, size_bytes: int
    ) -> RemoteSegment:
        """A segment of which everything counts."""
        return cls(segment_id, start_offset, end_offset, time_ms_max, size_bytes, start_offset, end_offset)

    def check(self) -> None:
        """Refuse offsets that make no sense."""
        physical = 0 <= self.start_offset < self.end_offset
        start, end = self.logical_start_offset, self.logical_end_offset
        if not physical or not self.start_offset <= start < end <= self.end_offset:
            raise ValueError(
                f"segment {self.segment_id} of offsets {self.start_offset} to {self.end_offset} cannot count from"
                f" {start} to {end}"
            )


@dataclass(frozen=True, slots=True)
class LogManifest:
    """The remote part of a bucket's log: segments by offset, without a gap."""

    place: BucketPlace
    segments: tuple[RemoteSegment, ...] = ()
    #: Up to where the log was ever copied; stays when all that was copied has expired.
    copied_end_offset: int = _NOTHING

    @property
    def start_offset(self) -> int | None:
        """The first offset that can be read, or None when nothing can."""
        return self.segments[0].logical_start_offset if self.segments else None

    @property
    def end_offset(self) -> int:
        """The offset after the last that can be read; -1 when nothing can."""
        return self.segments[-1].logical_end_offset if self.segments else _NOTHING

    @property
    def size_bytes(self) -> int:
        """Bytes of all segments."""
        return sum(segment.size_bytes for segment in self.segments)

    def covers(self, offset: int) -> bool:
        """Whether an offset can be read."""
        return bool(self.segments) and self.segments[0].logical_start_offset <= offset < self.end_offset

    def place_of(self, offset: int) -> int:
        """The position of the segment that counts for an offset the manifest covers."""
        return bisect_right(self.segments, offset, key=lambda segment: segment.logical_start_offset) - 1

    def contiguous_from(self, offset: int, before_offset: int, limit: int) -> tuple[RemoteSegment, ...]:
        """The segment that has an offset and those behind it, as far as their files follow upon each other.

        Segments that begin at or after `before_offset` are left out, and all beyond the first `limit`.
        """
        first = self.place_of(offset)
        found = [self.segments[first]]
        for segment in self.segments[first + 1 : first + limit]:
            if segment.start_offset != found[-1].end_offset or segment.start_offset >= before_offset:
                break
            found.append(segment)
        return tuple(found)

    def first_at_or_after(self, time_ms: int) -> RemoteSegment | None:
        """The first segment with something that was appended at or after a time."""
        return next((segment for segment in self.segments if segment.time_ms_max >= time_ms), None)

    # -- change

    def with_segments(self, added: Iterable[RemoteSegment]) -> LogManifest:
        """With segments that were copied, in the order of their offsets.

        What is there already is not taken again; a gap is refused with ValueError; of segments that overlap, the
        earlier one is clipped.
        """
        segments = list(self.segments)
        for new in sorted(added, key=lambda segment: segment.start_offset):
            new.check()
            if segments:
                end = segments[-1].logical_end_offset
                if new.end_offset <= end:
                    continue
                if new.start_offset > end:
                    raise ValueError(f"offsets {end} to {new.start_offset} are missing before segment {new.segment_id}")
                new = _clip(segments, new)
            segments.append(new)
        end = segments[-1].end_offset if segments else _NOTHING
        return replace(self, segments=tuple(segments), copied_end_offset=max(self.copied_end_offset, end))

    def without_first(self, count: int) -> LogManifest:
        """Without the oldest segments."""
        return replace(self, segments=self.segments[count:])

    def expired_count(self, now_ms: int, ttl_ms: int, keep_from_offset: int | None) -> int:
        """How many of the oldest segments are older than their time to live, and below what must be kept."""
        if ttl_ms <= 0:
            return 0
        count = 0
        for segment in self.segments:
            needed = keep_from_offset is not None and segment.logical_end_offset > keep_from_offset
            if now_ms - segment.time_ms_max <= ttl_ms or needed:
                break
            count += 1
        return count

    # -- JSON

    def to_json(self) -> bytes:
        """As it is stored."""
        place = self.place
        node: dict[str, Any] = {"version": VERSION, "database": place.database, "table": place.table}
        if place.partition is not None:
            node["partition_name"] = place.partition
        node["table_id"] = place.table_id
        if place.partition_id is not None:
            node["partition_id"] = place.partition_id
        node["bucket_id"] = place.bucket
        if self.copied_end_offset != self.end_offset:
            node["highest_copied_end_offset"] = self.copied_end_offset
        node["remote_log_segments"] = [_segment_node(segment) for segment in self.segments]
        return json.dumps(node, separators=(",", ":"), ensure_ascii=False).encode()

    @classmethod
    def of_json(cls, data: bytes) -> LogManifest:
        """A manifest that was stored; raises ValueError when it is none, or not one of this version."""
        try:
            node = json.loads(data)
            if node["version"] != VERSION:
                raise ValueError(f"version {node['version']} of log manifests is not known, only {VERSION}")
            place = BucketPlace(
                database=node["database"],
                table=node["table"],
                table_id=node["table_id"],
                bucket=node["bucket_id"],
                partition=node.get("partition_name"),
                partition_id=node.get("partition_id"),
            )
            segments = [_segment_of(one) for one in node["remote_log_segments"]]
        except (KeyError, TypeError, AttributeError) as wrong:
            raise ValueError(f"this is no log manifest: {wrong!r}") from wrong
        for segment in segments:
            segment.check()
        end = max((segment.end_offset for segment in segments), default=_NOTHING)
        return cls(place, _in_order(segments), node.get("highest_copied_end_offset", end))


def _in_order(segments: Iterable[RemoteSegment]) -> tuple[RemoteSegment, ...]:
    """Segments by offset, each counting up to where the next one begins: servers of 0.9.1 write them in any order, and
    where they overlap, do not say what counts."""
    ordered: list[RemoteSegment] = []
    for one in sorted(segments, key=lambda segment: (segment.logical_start_offset, -segment.logical_end_offset)):
        if ordered and one.logical_end_offset <= ordered[-1].logical_end_offset:
            continue
        if ordered and one.logical_start_offset < ordered[-1].logical_end_offset:
            ordered[-1] = replace(ordered[-1], logical_end_offset=one.logical_start_offset)
        ordered.append(one)
    return tuple(ordered)


def _clip(segments: list[RemoteSegment], new: RemoteSegment) -> RemoteSegment:
    """Let earlier segments count only up to where a new one begins; what nothing is left of goes."""
    start = segments[0].logical_start_offset
    if new.start_offset < start:
        new = replace(new, logical_start_offset=start)
    while segments and segments[-1].logical_start_offset >= new.logical_start_offset:
        segments.pop()
    if segments and segments[-1].logical_end_offset > new.logical_start_offset:
        segments[-1] = replace(segments[-1], logical_end_offset=new.logical_start_offset)
    return new


def _segment_node(segment: RemoteSegment) -> dict[str, Any]:
    node: dict[str, Any] = {
        "segment_id": segment.segment_id,
        "start_offset": segment.start_offset,
        "end_offset": segment.end_offset,
    }
    if segment.logical_start_offset != segment.start_offset:
        node["logical_start_offset"] = segment.logical_start_offset
    if segment.logical_end_offset != segment.end_offset:
        node["logical_end_offset"] = segment.logical_end_offset
    return {**node, "max_timestamp": segment.time_ms_max, "size_in_bytes": segment.size_bytes}


def _segment_of(node: Mapping[str, Any]) -> RemoteSegment:
    start, end = int(node["start_offset"]), int(node["end_offset"])
    return RemoteSegment(
        str(node["segment_id"]),
        start,
        end,
        int(node["max_timestamp"]),
        int(node["size_in_bytes"]),
        int(node.get("logical_start_offset", start)),
        int(node.get("logical_end_offset", end)),
    )
