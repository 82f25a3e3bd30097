"""How far a batch may go."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from lakeward.client.forms.results import BucketId
from lakeward.query.stream.admission import ReadLimit, admit, shares
from lakeward.query.stream.stream_offset import Position

_BACKLOGS = st.dictionaries(st.integers(0, 9).map(lambda n: BucketId(None, n)), st.integers(0, 50), max_size=8)


@given(behind=_BACKLOGS, rows=st.integers(1, 200))
def test_shares_are_fair_and_use_the_whole_limit(behind: dict[BucketId, int], rows: int) -> None:
    """As much as allowed, never more; a bucket that gets less than it has gets no less than any other."""
    found = shares(behind, rows)
    assert sum(found.values()) == min(rows, sum(behind.values()))
    assert all(found[id_] <= behind[id_] for id_ in behind)
    short = [found[id_] for id_ in behind if found[id_] < behind[id_]]
    assert not short or max(found.values()) - min(short) <= 1


def test_states_come_before_changes_and_one_always_does() -> None:
    """A state counts with its offsets; the first is admitted whatever its size, so that a stream cannot stand still."""
    a, b, c = (BucketId(None, n) for n in range(3))
    starts = {a: Position(100, is_state=True), b: Position(5, is_state=True), c: Position(7)}
    ends = {a: 120, b: 6, c: 10}
    assert admit(starts, ends, 10) == {a: Position(100), b: Position(5, is_state=True), c: Position(7)}
    assert admit(starts, ends, 106) == {a: Position(100), b: Position(5), c: Position(8)}
    assert admit(starts, ends, None) == {a: Position(120), b: Position(6), c: Position(10)}


def test_limits_as_rows() -> None:
    """The narrower of rows and bytes counts, and something always passes."""
    assert ReadLimit().in_rows(10.0) is None
    assert ReadLimit(rows=5).in_rows(None) == 5
    assert ReadLimit(bytes=100).in_rows(None) is None
    assert ReadLimit(rows=50, bytes=100).in_rows(10.0) == 10
    assert ReadLimit(bytes=3).in_rows(10.0) == 1
