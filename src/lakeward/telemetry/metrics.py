"""Metrics of one process: declared by rows, counted by labels, gathered in steps.

    metrics = Metrics()
    requests = metrics.counter(rows.REQUESTS)        a row, see telemetry.rows
    requests.add(1, ("FETCH_LOG",))                  the values of the row's labels, in their order
    metrics.text()                                   everything, as Prometheus wants it

What others count is asked for when it is printed: `read_from`, `read_all_from`. Work for that which takes long is done
before, in steps between which others are served: `before`.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Generator, Iterable, Mapping
from itertools import accumulate
from typing import TypeVar

from lakeward.telemetry.prometheus_text import Family, Point, family_lines
from lakeward.telemetry.rows.metric_row import Kind, MetricRow
from lakeward.telemetry.spread import Spread

#: The values of a row's labels, in their order.
Labels = tuple[str, ...]
Spreads = Mapping[Labels, Spread]
_Kind = TypeVar("_Kind", "Metric", "Histogram", "SpreadMetric")
#: So many lines are made without a break.
_LINES_AT_ONCE = 200


class Metric:
    """A counter or gauge: a value per set of labels."""

    __slots__ = ("_read", "_read_all", "_values", "row")

    def __init__(self, row: MetricRow) -> None:
        self.row = row
        self._values: dict[Labels, float] = {}
        self._read: Callable[[], float] | None = None
        self._read_all: Callable[[], Mapping[Labels, float]] | None = None

    def add(self, amount: float = 1, labels: Labels = ()) -> None:
        """Count something."""
        self._values[labels] = self._values.get(labels, 0) + amount

    def set(self, value: float, labels: Labels = ()) -> None:
        """State something."""
        self._values[labels] = value

    def read_from(self, read: Callable[[], float]) -> None:
        """Ask for the value whenever it is printed."""
        self._read = read

    def read_all_from(self, read: Callable[[], Mapping[Labels, float]]) -> None:
        """Ask for the values by labels whenever they are printed."""
        self._read_all = read

    def value(self, labels: Labels = ()) -> float:
        """The value for a set of labels."""
        if self._read_all:
            return self._read_all().get(labels, 0)
        return self._read() if self._read else self._values.get(labels, 0)

    def points(self) -> Iterable[Point]:
        """All values."""
        return (Point(labels, value) for labels, value in sorted(self._all().items()))

    def _all(self) -> Mapping[Labels, float]:
        if self._read_all:
            return self._read_all()
        if self._read:
            return {(): self._read()}
        return self._values if self._values or self.row.labels else {(): 0.0}


class Histogram:
    """How often values fell below each of the row's bounds, and what they sum up to, per set of labels."""

    __slots__ = ("_counts", "_sums", "row")

    def __init__(self, row: MetricRow) -> None:
        self.row = row
        self._counts: dict[Labels, list[int]] = {}
        self._sums: dict[Labels, float] = {}

    def observe(self, value: float, labels: Labels = ()) -> None:
        """Count a value."""
        counts = self._counts.setdefault(labels, [0] * (len(self.row.bounds) + 1))
        counts[bisect_left(self.row.bounds, value)] += 1
        self._sums[labels] = self._sums.get(labels, 0.0) + value

    def count(self, labels: Labels = ()) -> int:
        """How many values there were."""
        return sum(self._counts.get(labels, ()))

    def points(self) -> Iterable[Point]:
        """All of them; each bucket counts those below it too."""
        for labels, counts in sorted(self._counts.items()):
            yield Point(labels, self._sums[labels], tuple(accumulate(counts)))


class SpreadMetric:
    """A histogram or summary of spreads that somebody else keeps, by labels."""

    __slots__ = ("_read", "row")

    def __init__(self, row: MetricRow, read: Callable[[], Spreads]) -> None:
        self.row = row
        self._read = read

    def points(self) -> Iterable[Point]:
        """All of them, by the row's bounds or quantiles."""
        for labels, spread in sorted(self._read().items(), key=lambda item: item[0]):
            if self.row.kind is Kind.HISTOGRAM:
                yield Point(labels, spread.total, tuple(spread.below(self.row.bounds)))
            else:
                quantiles = tuple(spread.recent_quantiles(self.row.bounds))
                yield Point(labels, spread.total, (spread.count,), quantiles)


class Metrics:
    """All metrics of one process."""

    def __init__(self) -> None:
        self._metrics: dict[str, Metric | Histogram | SpreadMetric] = {}
        self._before: list[Callable[[], Iterable[object]]] = []

    def counter(self, row: MetricRow) -> Metric:
        """Declare something that only grows."""
        assert row.kind is Kind.COUNTER
        return self._declare(Metric(row))

    def gauge(self, row: MetricRow) -> Metric:
        """Declare something that goes up and down."""
        assert row.kind is Kind.GAUGE
        return self._declare(Metric(row))

    def histogram(self, row: MetricRow) -> Histogram:
        """Declare something of which the spread counts."""
        assert row.kind is Kind.HISTOGRAM
        return self._declare(Histogram(row))

    def spreads(self, row: MetricRow, read: Callable[[], Spreads]) -> None:
        """Declare a histogram or summary of spreads that are asked for whenever they are printed."""
        assert row.kind in {Kind.HISTOGRAM, Kind.SUMMARY}
        self._declare(SpreadMetric(row, read))

    def before(self, steps: Callable[[], Iterable[object]]) -> None:
        """Have something done, in steps, whenever all is to be printed."""
        self._before.append(steps)

    def _declare(self, metric: _Kind) -> _Kind:
        assert metric.row.name not in self._metrics, f"{metric.row.name} is declared twice"
        self._metrics[metric.row.name] = metric
        return metric

    def gather(self) -> Generator[None, None, list[Family]]:
        """Everything as it is now, in steps between which others may be served."""
        for steps in self._before:
            for _ in steps():
                yield
        families = []
        for metric in list(self._metrics.values()):
            families.append(Family(metric.row, tuple(metric.points())))
            yield
        return families

    def text_steps(self) -> Generator[None, None, str]:
        """Everything in Prometheus' text format, in steps."""
        families = yield from self.gather()
        return (yield from text_of(families))

    def text(self) -> str:
        """Everything in Prometheus' text format, at once."""
        return finish(self.text_steps())


def text_of(families: Iterable[Family]) -> Generator[None, None, str]:
    """What was gathered in Prometheus' text format, in steps."""
    lines: list[str] = []
    done = 0
    for family in families:
        for line in family_lines(family):
            lines.append(line)
            if len(lines) - done >= _LINES_AT_ONCE:
                done = len(lines)
                yield
    return "\n".join((*lines, ""))


_T = TypeVar("_T")


def finish(steps: Generator[None, None, _T]) -> _T:
    """What steps lead to, without a break."""
    while True:
        try:
            next(steps)
        except StopIteration as end:
            value: _T = end.value
            return value
