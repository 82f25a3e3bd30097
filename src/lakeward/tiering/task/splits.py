"""What one task of a round reads: a range of a bucket's log, or the state of a bucket."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from lakeward.model.bucket import TableBucket


@dataclass(frozen=True, slots=True)
class LogRange:
    """The offsets of one bucket from `start` up to, not including, `stop`."""

    bucket: TableBucket
    partition: str | None
    start: int
    stop: int

    @property
    def rows(self) -> int:
        """How many offsets it has."""
        return self.stop - self.start


@dataclass(frozen=True, slots=True)
class StateAtOffset:
    """The rows of one bucket of a primary key table as they were when its log ended at `offset`."""

    bucket: TableBucket
    partition: str | None
    offset: int


TieringSplit: TypeAlias = LogRange | StateAtOffset
