"""Timeline: the rounds of a table as bars along the time, for a drawing and in a sentence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

from lakeward.console.text.figures import count_text, duration_text
from lakeward.console.text.moments import ago_text, exact_text
from lakeward.tiering.watch.round_history import PastRound

#: Stretches of time that can be looked at, by the word in the address.
SPANS = {"1h": 3_600_000, "6h": 21_600_000, "1d": 86_400_000, "7d": 604_800_000}
ALL = "all"
#: The drawing's own units: it is stretched to the width of the page.
WIDTH, HEIGHT = 1000, 120
_MOVED_HEIGHT = 96
_FAILED_TOP = 102
_BAR_MIN = 3.0
_LOW = 5.0
_BARS_MAX = 400
_ENOUGH = 12
_EDGE = 1.02


@dataclass(frozen=True, slots=True)
class Bar:
    """A round in the drawing: those that moved rows stand above, those that failed in a lane below."""

    x: float
    y: float
    width: float
    height: float
    kind: str
    label: str


@dataclass(frozen=True, slots=True)
class Timeline:
    """A stretch of time with its rounds."""

    span: str
    bars: tuple[Bar, ...]
    begin_ms: int
    end_ms: int
    #: The same in words.
    sentence: str


def timeline(rounds: Sequence[PastRound], now_ms: int, span: str = "") -> Timeline | None:
    """Draw rounds, oldest first, of a span of `SPANS` or all; without one, of the shortest that shows enough."""
    if not rounds:
        return None
    chosen = span if span in SPANS or span == ALL else _best_span(rounds, now_ms)
    begin_ms = now_ms - SPANS[chosen] if chosen in SPANS else _begin_of_all(rounds, now_ms)
    shown = [one for one in rounds if one.ended_ms >= begin_ms]
    drawn = shown[-_BARS_MAX:]
    rows_max = max((one.rows or 0 for one in drawn), default=0)
    bars = tuple(_bar(one, begin_ms, now_ms, rows_max) for one in drawn)
    return Timeline(chosen, bars, begin_ms, now_ms, _sentence(shown, len(drawn), begin_ms, now_ms))


def _best_span(rounds: Sequence[PastRound], now_ms: int) -> str:
    if rounds[0].ended_ms >= now_ms - min(SPANS.values()):
        return ALL  # a short past would be a thin line at the edge of an hour
    wanted = min(_ENOUGH, len(rounds))
    for word, length_ms in SPANS.items():
        if sum(one.ended_ms >= now_ms - length_ms for one in rounds) >= wanted:
            return word
    return ALL


def _begin_of_all(rounds: Sequence[PastRound], now_ms: int) -> int:
    first = min(one.ended_ms - _length_ms(one) for one in rounds)
    return now_ms - max(int((now_ms - first) * _EDGE), 1000)


def _bar(one: PastRound, begin_ms: int, end_ms: int, rows_max: int) -> Bar:
    scale = WIDTH / max(end_ms - begin_ms, 1)
    right = min(max((one.ended_ms - begin_ms) * scale, _BAR_MIN), WIDTH)
    width = max(_length_ms(one) * scale, _BAR_MIN)
    left = max(min(right - width, WIDTH - _BAR_MIN), 0.0)
    if one.is_failure:
        top, height, kind = float(_FAILED_TOP), float(HEIGHT - _FAILED_TOP), "failed"
    else:
        height = max(_MOVED_HEIGHT * sqrt((one.rows or 0) / rows_max), _LOW) if rows_max else _LOW
        top, kind = _MOVED_HEIGHT - height, "moved"
    return Bar(round(left, 1), round(top, 1), round(right - left, 1), round(height, 1), kind, label(one))


def label(one: PastRound) -> str:
    """A round in words."""
    at = exact_text(one.ended_ms)
    if one.is_failure:
        return f"{at}: failed: {one.reason}"
    rows = "an unknown number of rows" if one.rows is None else _rows(one.rows)
    took = "" if one.seconds is None else f" in {duration_text(one.seconds)}"
    return f"{at}: {rows}{took}"


def _length_ms(one: PastRound) -> int:
    return int((one.seconds or 0) * 1000)


def _sentence(shown: Sequence[PastRound], drawn: int, begin_ms: int, now_ms: int) -> str:
    span = duration_text((now_ms - begin_ms) / 1000)
    if not shown:
        return f"No round has ended in the last {span}."
    moved = [one for one in shown if not one.is_failure]
    failed = [one for one in shown if one.is_failure]
    told = [f"In the last {span}, {_times(len(moved))} moved {_rows(sum(one.rows or 0 for one in moved))}"]
    if lengths := [one.seconds for one in moved if one.seconds is not None]:
        told.append(f", the longest in {duration_text(max(lengths))}")
    last = f"{len(failed):,} failed, the last {ago_text(failed[-1].ended_ms, now_ms)}" if failed else "none failed"
    told.append(f"; {last}.")
    if drawn < len(shown):
        told.append(f" The newest {drawn:,} are drawn.")
    return "".join(told)


def _rows(number: int) -> str:
    return f"{count_text(number)} {'row' if number == 1 else 'rows'}"


def _times(number: int) -> str:
    return f"{number:,} {'round' if number == 1 else 'rounds'}"
