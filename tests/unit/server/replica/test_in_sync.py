"""What all replicas in sync have, who is in sync, and who is not any more."""

from __future__ import annotations

import pytest

from lakeward.errors import ErrorCode, LakewardError
from lakeward.server.replica.in_sync import InSync, Proposal, Report

_LAG_MS = 1000


def book(isr: tuple[int, ...] = (0, 1, 2), elected_end: int = 10, isr_min: int = 1) -> InSync:
    """Server 0 leads; 1 and 2 follow."""
    return InSync(0, (0, 1, 2), isr, elected_end=elected_end, now_ms=0, isr_min=isr_min)


def mark(isr: InSync, before: int = 0, end: int = 10, now_ms: int = 0) -> int:
    """The high watermark as it is now."""
    return isr.high_watermark(before, end, now_ms, _LAG_MS)


def test_the_high_watermark_is_what_all_in_sync_have() -> None:
    """The slowest of those in sync decides; nothing is promised as long as one has not been heard of."""
    isr = book()
    assert mark(isr) == 0
    isr.fetch(1, 8, 10, 1)
    assert mark(isr) == 0
    isr.fetch(2, 6, 10, 1)
    assert mark(isr) == 6
    isr.fetch(2, 10, 10, 2)
    assert mark(isr) == 8


def test_the_high_watermark_never_goes_back() -> None:
    """A follower that compares from further back does not take back what was promised."""
    isr = book(isr=(0, 1))
    isr.fetch(1, 10, 10, 1)
    assert mark(isr) == 10
    isr.fetch(1, 4, 10, 2)
    assert mark(isr, before=10) == 10


def test_who_is_out_of_sync_and_behind_does_not_hold_up_the_others() -> None:
    """A replica outside the set that has long been behind does not count."""
    isr = book(isr=(0, 1))
    isr.fetch(1, 10, 10, 5000)
    isr.fetch(2, 3, 10, 5000)
    assert mark(isr, now_ms=5000) == 10


def test_who_is_about_to_join_counts_already() -> None:
    """A replica outside the set that keeps up would otherwise join without rows that were promised."""
    isr = book(isr=(0, 1), elected_end=12)
    isr.fetch(1, 12, 12, 10)
    isr.fetch(2, 10, 10, 9)
    assert mark(isr, end=12, now_ms=10) == 10


def test_with_too_few_in_sync_nothing_more_is_promised() -> None:
    """Below the minimum the mark stays where it is."""
    isr = book(isr=(0,), isr_min=2)
    assert mark(isr, before=3) == 3
    assert not isr.has_enough()


def test_a_leader_alone_promises_what_it_has() -> None:
    """With nobody else in sync the end of the log is the mark."""
    isr = InSync(0, (0,), (0,), elected_end=0, now_ms=0)
    assert mark(isr) == 10


def test_a_follower_that_has_caught_up_joins() -> None:
    """From the high watermark on a live replica is proposed; while that is under way, no other."""
    isr = book(isr=(0, 1), elected_end=8)
    isr.fetch(2, 7, 10, 1)
    assert isr.joining(8, lambda _: True) is None
    assert isr.joining(3, lambda _: True) is None  # a mark that is too low: this leader was elected with more
    isr.fetch(2, 8, 10, 1)
    assert isr.joining(8, lambda _: False) is None
    proposal = isr.joining(8, lambda _: True)
    assert proposal == Proposal((0, 1, 2), is_larger=True)
    isr.propose(proposal)
    assert isr.joining(8, lambda _: True) is None


def test_a_larger_set_counts_before_it_is_confirmed_a_smaller_one_only_then() -> None:
    """Until the coordinator has answered, the stricter of the two sets holds."""
    isr = book(isr=(0, 1))
    isr.fetch(1, 10, 10, 1)
    isr.fetch(2, 8, 10, 1)
    isr.propose(Proposal((0, 1, 2), is_larger=True))
    assert mark(isr, now_ms=9999) == 8
    isr = book(isr=(0, 1, 2))
    isr.fetch(1, 10, 10, 1)
    isr.fetch(2, 8, 10, 1)
    smaller = Proposal((0, 1), is_larger=False)
    isr.propose(smaller)
    assert mark(isr, now_ms=9999) == 8
    assert isr.settle(smaller, (0, 1))
    assert mark(isr, now_ms=9999) == 10


def test_who_has_not_kept_up_leaves() -> None:
    """Neither has it everything, nor had it so within the time that is allowed."""
    isr = book()
    isr.fetch(1, 10, 10, 100)
    isr.fetch(2, 5, 10, 100)
    assert isr.leaving(10, 900, _LAG_MS) is None
    assert isr.leaving(10, 1101, _LAG_MS) == Proposal((0, 1), is_larger=False)


def test_who_has_what_there_was_at_its_last_question_keeps_up() -> None:
    """Under a steady load nobody ever has everything."""
    isr = book()
    for step in range(1, 40):
        for follower in (1, 2):
            isr.fetch(follower, 10 * (step - 1), 10 * step, 100 * step)
    assert isr.leaving(400, 4000, _LAG_MS) is None


@pytest.mark.parametrize(("report", "again", "still"), [
    (Report.REFUSED, False, False), (Report.OUTDATED, False, True), (Report.UNKNOWN, True, True),
])  # fmt: skip
def test_what_becomes_of_a_proposal(report: Report, again: bool, still: bool) -> None:
    """A refusal sets it back, news of something newer leaves it until that comes, silence has it sent again."""
    isr = book()
    proposal = Proposal((0, 1), is_larger=False)
    isr.propose(proposal)
    assert isr.reject(proposal, report) is again
    assert (isr.proposed is proposal) is still


def test_an_answer_to_an_old_question_changes_nothing() -> None:
    """A proposal that was replaced is not settled by its late answer."""
    isr = book()
    old, new = Proposal((0, 1), is_larger=False), Proposal((0, 2), is_larger=False)
    isr.propose(new)
    assert not isr.settle(old, (0, 1))
    assert isr.isr == (0, 1, 2)


def test_a_follower_with_rows_that_were_never_committed_is_sent_back() -> None:
    """Its first question under this leader is behind the leader's election: it is told to cut there, and comes back."""
    isr = book(elected_end=10)
    with pytest.raises(LakewardError) as refused:
        isr.fetch(1, 15, 20, 1)
    assert refused.value.code is ErrorCode.LOG_OFFSET_OUT_OF_RANGE
    assert isr.end_for(1, 20) == 10
    assert isr.end_for(2, 20) == 20
    isr.fetch(1, 10, 20, 2)
    isr.fetch(1, 20, 20, 3)
    assert isr.end_for(1, 20) == 20


def test_nobody_is_ahead_of_the_leader() -> None:
    """An offset behind the end of the log is refused at any time."""
    isr = book()
    isr.fetch(1, 10, 10, 1)
    with pytest.raises(LakewardError):
        isr.fetch(1, 11, 10, 2)
