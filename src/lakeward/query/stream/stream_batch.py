"""What lies between two offsets of a stream. Pure functions."""

from __future__ import annotations

from collections.abc import Mapping

from lakeward.client.forms.results import BucketId
from lakeward.query.stream.stream_offset import Position, StreamOffset

#: Offsets from one up to, not including, another.
Range = tuple[int, int]
BEGINNING = Position(0)


def is_same(id_: BucketId, before: Mapping[str, int], now: Mapping[str, int]) -> bool:
    """Whether a bucket's partition is still the one of that name; a table without partitions is compared by its id."""
    return id_.partition is None or (id_.partition in now and before.get(id_.partition) == now[id_.partition])


class StreamBatch:
    """What lies between two offsets: states and whole buckets to read first, ranges of logs, and what was dropped."""

    def __init__(self, start: StreamOffset, end: StreamOffset, partitions: Mapping[str, int]) -> None:
        self.states: dict[BucketId, int] = {}
        self.gone: list[BucketId] = []
        self.ranges: dict[BucketId, Range] = {}
        self.lost: dict[BucketId, Range] = {}
        is_known = start.table_id == end.table_id
        #: Up to where buckets are read in the lake.
        self.lake_ends = {
            id_: stop
            for id_, stop in start.lake_ends.items()
            if is_known and is_same(id_, start.partitions, end.partitions)
        }
        for id_, stop in end.buckets.items():
            told = start.buckets.get(id_) if is_known else None
            if end.is_gone(id_):
                self.gone += [id_] if told is not None and told.is_state and not stop.is_state else []
                continue
            begin = told if told is not None and is_same(id_, start.partitions, end.partitions) else BEGINNING
            if not is_same(id_, end.partitions, partitions):
                if begin.is_state or stop.offset > begin.offset:
                    self.lost[id_] = (begin.offset, stop.offset)
                continue
            if begin.is_state and not stop.is_state:
                self.states[id_] = begin.offset
            if not stop.is_state and stop.offset > begin.offset:
                self.ranges[id_] = (begin.offset, stop.offset)


def halves(
    ranges: Mapping[BucketId, Range], lake_ends: Mapping[BucketId, int]
) -> tuple[dict[BucketId, Range], dict[BucketId, Range]]:
    """Ranges of offsets as they are read: before where the lake ended, and from there on."""
    cold = {id_: (a, min(b, lake_ends[id_])) for id_, (a, b) in ranges.items() if a < lake_ends.get(id_, 0)}
    hot = {id_: (max(a, lake_ends.get(id_, 0)), b) for id_, (a, b) in ranges.items()}
    return cold, {id_: (a, b) for id_, (a, b) in hot.items() if a < b}
