"""Following: how a follower comes to have the log of its leader, byte for byte. Pure.

    COMPARE   from the high watermark on, what is here and what the leader has are laid side by side: a change of
              leaders may have left rows here that were never committed. At the first difference the log is cut.
    COPY      what the leader has behind our end is appended.

Apache Fluss 0.9 has no epochs in its log to find that place by, and its followers trust what they have; ours look.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable
from dataclasses import dataclass

from lakeward.errors import ErrorCode
from lakeward.records.batch.log_batch import BatchSpan


class Step(enum.Enum):
    """What a follower is doing with its leader."""

    COMPARE = enum.auto()
    COPY = enum.auto()


class After(enum.Enum):
    """What follows from an error of the leader."""

    #: It is not, or not yet, the leader; or it is away. Ask again after a moment.
    REST = enum.auto()
    #: Our place is not in its log: ask where it begins and ends.
    LOCATE = enum.auto()


#: Error of FETCH_LOG → what a follower does; every other one is a reason to rest.
AFTER_ERRORS = {ErrorCode.LOG_OFFSET_OUT_OF_RANGE: After.LOCATE}


@dataclass(frozen=True, slots=True)
class Agreement:
    """How far two logs agree: up to an offset, and so many bytes of what the leader sent."""

    offset: int
    size: int
    is_whole: bool


def agreement(offset: int, ours: memoryview, theirs: memoryview, batches: Iterable[BatchSpan]) -> Agreement:
    """Compare what both have from an offset on; `batches` are those that the leader sent, the first of which may begin
    before the offset."""
    size = 0
    for span in batches:
        if ours[span.start : span.end] != theirs[span.start : span.end]:
            return Agreement(offset, size, is_whole=False)
        offset, size = span.header.last_offset + 1, span.end
    return Agreement(offset, size, is_whole=True)


@dataclass(slots=True)
class Following:
    """Where a follower of one bucket stands with its leader."""

    step: Step
    #: From where the leader is asked.
    offset: int

    @classmethod
    def begin(cls, high_watermark: int, end_offset: int) -> Following:
        """There is a new leader: what is behind the high watermark may never have been committed."""
        if high_watermark >= end_offset:
            return cls(Step.COPY, end_offset)
        return cls(Step.COMPARE, high_watermark)

    def agree(self, agreed: Agreement, end_offset: int) -> int | None:
        """Both have been compared; the offset to cut our log at, None where there is nothing to cut."""
        self.offset = agreed.offset
        if agreed.is_whole and agreed.offset < end_offset:
            return None  # there is more to compare
        self.step = Step.COPY
        return agreed.offset if agreed.offset < end_offset else None

    def go_on_at(self, end_offset: int) -> None:
        """What the leader sent has been appended."""
        self.step, self.offset = Step.COPY, end_offset

    def locate(self, leader_start: int, leader_end: int, end_offset: int) -> tuple[int | None, int | None]:
        """The leader's log goes from here to there: where to cut ours, and where to begin it anew; None is neither."""
        if leader_start > end_offset:  # all that we have is older than all that it has
            self.step, self.offset = Step.COPY, leader_start
            return None, leader_start
        if leader_end <= self.offset < end_offset or leader_end < self.offset:  # it has less than we have
            self.step, self.offset = Step.COPY, leader_end
            return leader_end, None
        self.offset = max(self.offset, leader_start)
        return None, None
