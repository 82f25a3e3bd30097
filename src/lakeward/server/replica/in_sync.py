"""InSync: a leader's book of its followers: who keeps up, what all of them have, who must be reported. Pure.

Time and offsets are passed in; what is decided is handed back. Nobody is asked and nothing is sent.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from lakeward.errors import ErrorCode

#: A follower of which nothing has been heard under this leader.
UNKNOWN_OFFSET = -1


class Report(enum.Enum):
    """What became of a change of the in-sync set that was reported to the coordinator."""

    #: Refused for certain: the set is as it was.
    REFUSED = enum.auto()
    #: The coordinator knows something newer, and will tell.
    OUTDATED = enum.auto()
    #: Nobody knows: ask again.
    UNKNOWN = enum.auto()


#: Error of ADJUST_ISR → what it means; every other one is asked again.
REPORT_ERRORS = {
    ErrorCode.OPERATION_NOT_ATTEMPTED: Report.REFUSED,
    ErrorCode.INELIGIBLE_REPLICA: Report.REFUSED,
    ErrorCode.UNKNOWN_TABLE_OR_BUCKET: Report.OUTDATED,
    ErrorCode.INVALID_UPDATE_VERSION: Report.OUTDATED,
    ErrorCode.FENCED_LEADER_EPOCH: Report.OUTDATED,
}


@dataclass(slots=True)
class Follower:
    """What is known of one follower."""

    end_offset: int = UNKNOWN_OFFSET
    #: When it last had everything that there was.
    caught_up_ms: int = 0
    asked_ms: int = 0
    #: Where the leader's log ended when it last asked.
    leader_end: int = 0
    #: It came with rows that the leader never had, and must give them up.
    is_ahead: bool = False

    def fetch(self, offset: int, leader_end: int, now_ms: int) -> None:
        """It asks for what comes after an offset: so far it has everything."""
        if offset >= leader_end:
            self.caught_up_ms = max(self.caught_up_ms, now_ms)
        elif offset >= self.leader_end:  # it has what there was when it asked before
            self.caught_up_ms = max(self.caught_up_ms, self.asked_ms)
        self.end_offset, self.asked_ms = offset, now_ms
        self.leader_end = max(self.leader_end, leader_end)

    def keeps_up(self, leader_end: int, now_ms: int, lag_ms_max: int) -> bool:
        """Whether it has everything, or had so a moment ago."""
        return self.end_offset == leader_end or now_ms - self.caught_up_ms <= lag_ms_max


@dataclass(frozen=True, slots=True)
class Proposal:
    """A new in-sync set that the coordinator is asked for."""

    isr: tuple[int, ...]
    is_larger: bool


class InSync:
    """The followers of one bucket under one leader epoch."""

    def __init__(
        self, me: int, replicas: Iterable[int], isr: Iterable[int], *, elected_end: int, now_ms: int, isr_min: int = 1
    ) -> None:
        """`elected_end` is where the log ended when its leader was elected; `isr_min` is how many must be in sync."""
        self._me = me
        self.isr = tuple(isr)
        self.isr_min = isr_min
        self.elected_end = elected_end
        self.proposed: Proposal | None = None
        # The benefit of the doubt: they were in sync when the leader was elected.
        self._followers = {number: Follower(caught_up_ms=now_ms) for number in replicas if number != me}

    def change(self, replicas: Iterable[int], isr: Iterable[int], now_ms: int) -> None:
        """The coordinator says which replicas there are now, and which of them are in sync."""
        known = self._followers
        fresh = {number: Follower(caught_up_ms=now_ms) for number in replicas if number != self._me}
        self._followers = {number: known.get(number, new) for number, new in fresh.items()}
        self.isr, self.proposed = tuple(isr), None

    # -- what followers say

    def follows(self, number: int) -> bool:
        """Whether a server is a follower of this bucket."""
        return number in self._followers

    def fetch(self, number: int, offset: int, leader_end: int, now_ms: int) -> None:
        """A follower asks for rows. LOG_OFFSET_OUT_OF_RANGE if it has some that were never committed."""
        follower = self._followers[number]
        is_new = follower.end_offset == UNKNOWN_OFFSET
        if offset > leader_end or (offset > self.elected_end and (is_new or follower.is_ahead)):
            # It was in sync with a leader that is gone, and got rows from it that this one, just as much in sync, did
            # not get: so nobody was told that they are kept. Apache's followers ask where the log ends, and cut theirs.
            follower.is_ahead = True
            raise ErrorCode.LOG_OFFSET_OUT_OF_RANGE.error(
                f"Replica {number} asks from offset {offset}, and this leader was elected with {self.elected_end} and "
                f"has {leader_end} now: what is behind was never committed."
            )
        follower.is_ahead = False
        follower.fetch(offset, leader_end, now_ms)

    def end_for(self, number: int, leader_end: int) -> int:
        """Where a follower is told that the log ends: one that is ahead, where they parted at the latest."""
        follower = self._followers.get(number)
        return self.elected_end if follower is not None and follower.is_ahead else leader_end

    # -- what all have

    def high_watermark(self, before: int, leader_end: int, now_ms: int, lag_ms_max: int) -> int:
        """Up to where every replica in sync has the rows; it never goes back."""
        if len(self.isr) < self.isr_min:
            return before
        in_sync, mark = self._largest_isr(), leader_end
        for number, follower in self._followers.items():
            # One that is about to join counts already: it must not join with less than was told to be kept.
            joins = number not in in_sync and follower.end_offset != UNKNOWN_OFFSET
            if number in in_sync or (joins and follower.keeps_up(leader_end, now_ms, lag_ms_max)):
                mark = min(mark, max(follower.end_offset, 0))
        return max(before, mark)

    def _largest_isr(self) -> tuple[int, ...]:
        """As long as it is not certain that the set has become smaller, it counts as it was."""
        return self.proposed.isr if self.proposed is not None and self.proposed.is_larger else self.isr

    def has_enough(self) -> bool:
        """Whether so many are in sync that rows may be promised to be kept."""
        return len(self.isr) >= self.isr_min

    # -- who is in sync

    def joining(self, high_watermark: int, is_alive: Callable[[int], bool]) -> Proposal | None:
        """The in-sync set with those who have caught up; None when there are none, or a change is under way."""
        if self.proposed is not None:
            return None
        # A leader that has just come back may know of too low a mark; what it was elected with may all be committed.
        enough = max(high_watermark, self.elected_end)
        fit = [
            number
            for number, follower in self._followers.items()
            if number not in self.isr and follower.end_offset >= enough and is_alive(number)
        ]
        return Proposal((*self.isr, *fit), is_larger=True) if fit else None

    def leaving(self, leader_end: int, now_ms: int, lag_ms_max: int) -> Proposal | None:
        """The in-sync set without those who have not kept up; None when all do, or a change is under way."""
        if self.proposed is not None:
            return None
        kept = tuple(n for n in self.isr if n == self._me or self._keeps_up(n, leader_end, now_ms, lag_ms_max))
        return Proposal(kept, is_larger=False) if kept != self.isr else None

    def _keeps_up(self, number: int, leader_end: int, now_ms: int, lag_ms_max: int) -> bool:
        follower = self._followers.get(number)
        return follower is not None and follower.keeps_up(leader_end, now_ms, lag_ms_max)

    def propose(self, proposal: Proposal) -> None:
        """It was sent to the coordinator."""
        self.proposed = proposal

    def settle(self, proposal: Proposal, isr: Iterable[int]) -> bool:
        """The coordinator has taken it, and says which set counts now; False if that was asked for by another life."""
        if self.proposed is not proposal:
            return False
        self.proposed, self.isr = None, tuple(isr)
        return True

    def reject(self, proposal: Proposal, report: Report) -> bool:
        """The coordinator has not taken it; True when it is to be asked again."""
        if self.proposed is not proposal or report is Report.OUTDATED:
            return False  # a newer state is on its way, and until it comes the stricter of the two sets counts
        if report is Report.REFUSED:
            self.proposed = None
            return False
        return True
