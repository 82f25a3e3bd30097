"""A follower compares, cuts and copies: where it goes on after each answer of its leader."""

from __future__ import annotations

from raw_batches import raw_batch

from lakeward.records.batch.log_batch import walk_batches
from lakeward.server.replica.following import Agreement, Following, Step, agreement


def batches(*bodies: str) -> memoryview:
    """Batches of two rows each."""
    return memoryview(b"".join(raw_batch(2, body.encode(), base_offset=2 * n) for n, body in enumerate(bodies)))


def test_two_logs_agree_up_to_the_first_batch_that_differs() -> None:
    """Byte for byte; a shorter one agrees as far as it goes."""
    theirs = batches("a", "b", "c")
    spans = list(walk_batches(theirs))
    assert agreement(0, batches("a", "x", "c"), theirs, spans) == Agreement(2, spans[0].end, is_whole=False)
    assert agreement(0, theirs, theirs, spans) == Agreement(6, len(theirs), is_whole=True)
    assert agreement(0, batches("a"), theirs, spans) == Agreement(2, spans[0].end, is_whole=False)


def test_what_is_certain_is_not_compared() -> None:
    """With nothing behind the high watermark, copying begins at the end."""
    assert Following.begin(7, 7) == Following(Step.COPY, 7)
    assert Following.begin(4, 7) == Following(Step.COMPARE, 4)


def test_a_difference_is_cut_and_the_end_of_agreement_is_where_copying_begins() -> None:
    """More to compare, all compared, or cut."""
    following = Following(Step.COMPARE, 2)
    assert following.agree(Agreement(4, 50, is_whole=True), 8) is None
    assert following == Following(Step.COMPARE, 4)
    assert following.agree(Agreement(6, 20, is_whole=False), 8) == 6
    assert following == Following(Step.COPY, 6)
    following = Following(Step.COMPARE, 2)
    assert following.agree(Agreement(8, 90, is_whole=True), 8) is None
    assert following == Following(Step.COPY, 8)


def test_a_place_outside_the_leaders_log_is_found_again() -> None:
    """Cut where it ends earlier, begin anew where it begins later, stay where it has grown meanwhile."""
    assert Following(Step.COPY, 9).locate(0, 5, 9) == (5, None)
    assert Following(Step.COMPARE, 5).locate(0, 5, 9) == (5, None)
    assert Following(Step.COPY, 9).locate(20, 30, 9) == (None, 20)
    following = Following(Step.COMPARE, 5)
    assert following.locate(0, 12, 9) == (None, None)
    assert following == Following(Step.COMPARE, 5)
