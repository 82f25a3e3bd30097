"""What the log has and the lake lacks, cut into splits. A pure function."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from lakeward.errors import ErrorCode
from lakeward.model.bucket import TableBucket
from lakeward.model.table import TableInfo
from lakeward.tiering.task.splits import LogRange, StateAtOffset, TieringSplit


@dataclass(frozen=True, slots=True)
class BucketLog:
    """Where a bucket's log begins and ends."""

    bucket: TableBucket
    partition: str | None
    start: int
    end: int


def generate(
    info: TableInfo,
    in_lake: Mapping[TableBucket, int],
    logs: Iterable[BucketLog],
    *,
    rows_per_split: int,
    state_at_first: bool,
    skips_lost: bool = False,
) -> list[TieringSplit]:
    """The splits of a round, largest first, so that the last task is a short one.

    A bucket the lake does not know begins with its state (`state_at_first`) or with what is left of its log. Ranges of
    a log table are cut to `rows_per_split`; the changes of a bucket by key stay in one task, since the last one wins.
    Rows that the log no longer has are an error, unless `skips_lost`.
    """
    keyed = info.descriptor.has_primary_key
    found: list[TieringSplit] = []
    for log in logs:
        begin = in_lake.get(log.bucket)
        if begin is None and keyed and state_at_first:
            found.extend([StateAtOffset(log.bucket, log.partition, log.end)] if log.end else [])
            continue
        if begin is None or (skips_lost and begin < log.start):
            begin = log.start
        _check_kept(info, log, begin)
        found.extend(_cut(log, begin, max(log.end - begin, 1) if keyed else rows_per_split))
    return sorted(found, key=_size, reverse=True)


def _check_kept(info: TableInfo, log: BucketLog, begin: int) -> None:
    if begin < log.start:
        where = f"{info.path}, bucket {log.bucket.bucket}" + (f" of {log.partition}" if log.partition else "")
        raise ErrorCode.LOG_OFFSET_OUT_OF_RANGE.error(
            f"{where}: the lake has the log up to offset {begin}, but it now begins at {log.start}; the rows between "
            "are gone. Retention was shorter than the time tiering stood still: accept the gap with "
            f"'lakeward tier now {info.path} --skip-lost', or restore the log."
        )


def _cut(log: BucketLog, begin: int, rows_per_split: int) -> Iterator[LogRange]:
    """Even ranges, none larger than asked."""
    rows = log.end - begin
    if rows <= 0:
        return
    count = -(-rows // rows_per_split)
    bounds = [begin + rows * i // count for i in range(count + 1)]
    for start, stop in pairwise(bounds):
        yield LogRange(log.bucket, log.partition, start, stop)


def _size(split: TieringSplit) -> float:
    return split.rows if isinstance(split, LogRange) else float("inf")


def end_offsets(
    in_lake: Mapping[TableBucket, int], logs: Sequence[BucketLog], read: Mapping[TableBucket, int]
) -> dict[TableBucket, int]:
    """How far every bucket is after a round: as far as it was, or as far as was read. Dropped partitions leave."""
    live = {log.bucket for log in logs}
    return {b: o for b, o in {**in_lake, **read}.items() if b in live}
