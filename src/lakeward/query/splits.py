"""Splits: the unit of work of a task. A stretch of a bucket's log, or a bucket's state."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from lakeward.client.results import BucketId


@dataclass(frozen=True, slots=True)
class LogSplit:
    """The changes of one bucket from `start` up to, not including, `stop`."""

    partition: str | None
    bucket: int
    start: int
    stop: int

    @property
    def id(self) -> BucketId:
        """The bucket."""
        return BucketId(self.partition, self.bucket)

    @property
    def weight(self) -> int:
        """How much work it is, in offsets."""
        return self.stop - self.start

    def to_json(self) -> dict[str, Any]:
        """The JSON form."""
        return {
            "kind": "log",
            "partition": self.partition,
            "bucket": self.bucket,
            "start": self.start,
            "stop": self.stop,
        }


@dataclass(frozen=True, slots=True)
class StateSplit:
    """The rows of one bucket as they are when it is read, or as of an offset of its changelog.

    `offsets` is how many changes led to the state, as a measure of the work. `time_ms` is what a view shows as the
    time of these rows.
    """

    partition: str | None
    bucket: int
    as_of: int | None = None
    offsets: int = 0
    time_ms: int = 0

    @property
    def id(self) -> BucketId:
        """The bucket."""
        return BucketId(self.partition, self.bucket)

    @property
    def weight(self) -> int:
        """How much work it is, in offsets."""
        return self.offsets

    def to_json(self) -> dict[str, Any]:
        """The JSON form."""
        return {
            "kind": "state",
            "partition": self.partition,
            "bucket": self.bucket,
            "as_of": self.as_of,
            "offsets": self.offsets,
            "time_ms": self.time_ms,
        }


Split = LogSplit | StateSplit


def split_of_json(json: Mapping[str, Any]) -> Split:
    """The split of a JSON form."""
    rest = {key: value for key, value in json.items() if key != "kind"}
    return LogSplit(**rest) if json["kind"] == "log" else StateSplit(**rest)
