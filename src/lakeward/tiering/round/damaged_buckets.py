"""Buckets that cannot be read any further, and ranges that somebody told tiering to pass over. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from lakeward.errors import ErrorCode
from lakeward.model.bucket import TableBucket
from lakeward.model.table import TablePath
from lakeward.tiering.round.split_generator import BucketLog
from lakeward.tiering.task.splits import LogRange, TieringSplit
from lakeward.tiering.task.task import TaskResult

_RANGE = re.compile(r"(?:(.+)/)?(\d+):(\d+)-(\d+)")


class PassedRange(NamedTuple):
    """Offsets of a bucket from `start` up to, not including, `stop` that are not read, on purpose."""

    partition: str | None
    bucket: int
    start: int
    stop: int

    def __str__(self) -> str:
        where = f"{self.partition}/{self.bucket}" if self.partition else str(self.bucket)
        return f"{where}:{self.start}-{self.stop}"


def passed_ranges(text: str | None, path: TablePath) -> list[PassedRange]:
    """The ranges that a table's option names."""
    found = []
    for word in filter(None, (text or "").split(",")):
        match = _RANGE.fullmatch(word.strip())
        if match is None:
            raise ErrorCode.INVALID_CONFIG.error(
                f"{path}: '{word}' is no range for lakeward.tiering.skip-damaged; it is like 0:120-130."
            )
        found.append(PassedRange(match[1], int(match[2]), int(match[3]), int(match[4])))
    return found


def without(splits: Sequence[TieringSplit], passed: Sequence[PassedRange]) -> list[TieringSplit]:
    """The same splits without the ranges that are passed over."""
    left = list(splits)
    for one in passed:
        left = [part for split in left for part in _around(split, one)]
    return left


def _around(split: TieringSplit, one: PassedRange) -> list[TieringSplit]:
    here = isinstance(split, LogRange) and (split.partition, split.bucket.bucket) == (one.partition, one.bucket)
    if not here or not isinstance(split, LogRange) or one.stop <= split.start or split.stop <= one.start:
        return [split]
    before = replace(split, stop=max(one.start, split.start))
    behind = replace(split, start=min(one.stop, split.stop))
    return [part for part in (before, behind) if part.rows]


def read_up_to(
    in_lake: Mapping[TableBucket, int],
    logs: Sequence[BucketLog],
    results: Sequence[TaskResult],
    passed: Sequence[PassedRange],
) -> dict[TableBucket, int]:
    """How far each bucket is after these results, the ranges that it passes over included."""
    read: dict[TableBucket, int] = {}
    for result in results:
        read[result.bucket] = max(read.get(result.bucket, 0), result.read_to)
    stopped = {r.bucket for r in results if r.stopped}
    for log in logs:
        at = read.get(log.bucket, in_lake.get(log.bucket, log.start))
        for one in sorted(passed, key=lambda one: one.start):
            mine = (one.partition, one.bucket) == (log.partition, log.bucket.bucket)
            if mine and log.bucket not in stopped and one.start <= at < one.stop:
                at = read[log.bucket] = min(one.stop, log.end)
    return read


def before_damage(results: Sequence[TaskResult]) -> tuple[list[TaskResult], list[TaskResult]]:
    """Results that can be committed, and those that lie behind damage of their bucket and cannot."""
    ends: dict[TableBucket, int] = {}
    for result in results:
        if result.stopped:
            ends[result.bucket] = min(result.read_to, ends.get(result.bucket, result.read_to))
    kept: list[TaskResult] = []
    behind: list[TaskResult] = []
    for result in results:
        fits = result.bucket not in ends or result.read_to <= ends[result.bucket]
        (kept if fits else behind).append(result)
    return kept, behind
