"""Rounds along the time."""

from __future__ import annotations

from lakeward.console.pages.lake.timeline import ALL, HEIGHT, WIDTH, timeline
from lakeward.tiering.watch.round_history import PastRound

HOUR_MS = 3_600_000
NOW_MS = 1_000 * HOUR_MS


def moved(ago_ms: int, rows: int = 100, seconds: float = 1.0) -> PastRound:
    """A round that ended so long ago."""
    return PastRound(NOW_MS - ago_ms, rows=rows, seconds=seconds)


def test_nothing_is_drawn_of_no_rounds() -> None:
    """The page says it in words."""
    assert timeline([], NOW_MS) is None


def test_bars_stand_where_their_time_is_and_are_as_high_as_there_were_rows() -> None:
    """The newest to the right, the largest to the top."""
    drawn = timeline([moved(HOUR_MS // 2, 400), moved(0, 100)], NOW_MS, "1h")
    assert drawn is not None
    old, new = drawn.bars
    assert abs(old.x + old.width - WIDTH / 2) < 1
    assert abs(new.x + new.width - WIDTH) < 1
    assert old.height == 2 * new.height, "area grows with rows"
    assert old.y == 0
    assert {old.kind, new.kind} == {"moved"}


def test_a_failure_stands_in_a_lane_of_its_own_with_its_reason() -> None:
    """So that nobody has to tell colours apart."""
    drawn = timeline([PastRound(NOW_MS - 1000, reason="the lake is away")], NOW_MS, "1h")
    assert drawn is not None
    (bar,) = drawn.bars
    assert bar.kind == "failed"
    assert bar.y + bar.height == HEIGHT
    assert "the lake is away" in bar.label


def test_the_sentence_says_what_the_drawing_shows() -> None:
    """For those who do not see it."""
    drawn = timeline(
        [moved(HOUR_MS // 2, 1), moved(9000, 2, 3.5), PastRound(NOW_MS - 5000, reason="full")], NOW_MS, "1h"
    )
    assert drawn is not None
    assert drawn.sentence == (
        "In the last 1 h, 2 rounds moved 3 rows, the longest in 3.5 s; 1 failed, the last 5.0 s ago."
    )


def test_a_span_without_rounds_says_so() -> None:
    """And draws nothing."""
    drawn = timeline([moved(5 * HOUR_MS)], NOW_MS, "1h")
    assert drawn is not None
    assert (drawn.bars, drawn.sentence) == ((), "No round has ended in the last 1 h.")


def test_without_a_span_the_shortest_is_taken_that_shows_enough() -> None:
    """All of a short past; an hour of a busy day; a week of a quiet one."""
    chosen = {
        "short": timeline([moved(60_000 * n) for n in range(5, 0, -1)], NOW_MS),
        "busy": timeline([moved(60_000 * n) for n in range(600, 0, -1)], NOW_MS),
        "quiet": timeline([moved(12 * HOUR_MS * n) for n in range(13, 0, -1)], NOW_MS, "no span"),
        "old": timeline([moved(500 * HOUR_MS)], NOW_MS),
    }
    assert {name: found and found.span for name, found in chosen.items()} == {
        "short": ALL,
        "busy": "1h",
        "quiet": "7d",
        "old": ALL,
    }


def test_every_bar_is_inside_the_drawing_and_there_is_a_bound() -> None:
    """However many there are, however long they took, whatever the clocks of two machines say."""
    many = [moved(1000 * n, rows=n % 7, seconds=5000.0) for n in range(3000, -3, -1)]
    drawn = timeline(many, NOW_MS, ALL)
    assert drawn is not None
    assert len(drawn.bars) == 400
    assert "The newest 400 are drawn." in drawn.sentence
    for bar in drawn.bars:
        assert 0 <= bar.x <= bar.x + bar.width <= WIDTH
        assert 0 <= bar.y <= bar.y + bar.height <= HEIGHT
        assert bar.width > 0
