"""Which transactions a snapshot shows."""

from __future__ import annotations

from lakeward.capture.postgres.read.chunk_reader import SnapshotView


def test_those_below_its_end_that_were_not_under_way() -> None:
    """As pg_current_snapshot writes it."""
    view = SnapshotView.of("95:100:95,97")
    assert [xid for xid in range(90, 103) if view.shows(xid)] == [90, 91, 92, 93, 94, 96, 98, 99]
    assert SnapshotView.of("5:5:").under_way == frozenset()


def test_numbers_that_have_gone_round() -> None:
    """The log tells 32 bits of 64."""
    high = (3 << 32) + 2
    view = SnapshotView(high, frozenset({(2 << 32) + 0xFFFFFFFF}))
    assert view.shows(1)
    assert not view.shows(0xFFFFFFFF)
    assert view.shows(0xFFFFFFFE)
    assert not view.shows(2)
