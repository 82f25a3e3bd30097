"""Counters, gauges and histograms, declared like options and printed as Prometheus text."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeVar

Labels = tuple[tuple[str, str], ...]
_Kind = TypeVar("_Kind", "Metric", "Histogram")


class Metric:
    """A counter or gauge: one row with a name, a kind and a sentence, and a value per set of labels."""

    __slots__ = ("_read", "_read_all", "_values", "help", "kind", "name")

    def __init__(self, name: str, kind: str, sentence: str) -> None:
        assert kind in {"counter", "gauge"}
        self.name = name
        self.kind = kind
        self.help = sentence
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

    def lines(self) -> Iterable[str]:
        """The metric in Prometheus' text format."""
        yield f"# HELP {self.name} {self.help}"
        yield f"# TYPE {self.name} {self.kind}"
        for labels, value in sorted(self._all().items()):
            yield _line(self.name, labels, value)

    def _all(self) -> Mapping[Labels, float]:
        if self._read_all:
            return self._read_all()
        return {(): self._read()} if self._read else (self._values or {(): 0.0})


class Histogram:
    """How often values fell below each of some bounds, and what they sum up to, per set of labels."""

    __slots__ = ("_bounds", "_counts", "_sums", "help", "name")

    def __init__(self, name: str, sentence: str, bounds: Sequence[float]) -> None:
        assert list(bounds) == sorted(set(bounds))
        self.name = name
        self.help = sentence
        self._bounds = tuple(bounds)
        self._counts: dict[Labels, list[int]] = {}
        self._sums: dict[Labels, float] = {}

    def observe(self, value: float, labels: Labels = ()) -> None:
        """Count a value."""
        counts = self._counts.setdefault(labels, [0] * (len(self._bounds) + 1))
        counts[bisect_left(self._bounds, value)] += 1
        self._sums[labels] = self._sums.get(labels, 0.0) + value

    def count(self, labels: Labels = ()) -> int:
        """How many values there were."""
        return sum(self._counts.get(labels, ()))

    def lines(self) -> Iterable[str]:
        """The histogram in Prometheus' text format: each bucket counts those below it too."""
        yield f"# HELP {self.name} {self.help}"
        yield f"# TYPE {self.name} histogram"
        for labels, counts in sorted(self._counts.items()):
            so_far = 0
            for bound, count in zip((*self._bounds, float("inf")), counts, strict=True):
                so_far += count
                below = "+Inf" if bound == float("inf") else f"{bound:g}"
                yield _line(f"{self.name}_bucket", (*labels, ("le", below)), so_far)
            yield _line(f"{self.name}_sum", labels, self._sums[labels])
            yield _line(f"{self.name}_count", labels, so_far)


class Metrics:
    """All metrics of one process."""

    def __init__(self) -> None:
        self._metrics: dict[str, Metric | Histogram] = {}

    def counter(self, name: str, sentence: str) -> Metric:
        """Something that only grows."""
        return self._declare(Metric(name, "counter", sentence))

    def gauge(self, name: str, sentence: str) -> Metric:
        """Something that goes up and down."""
        return self._declare(Metric(name, "gauge", sentence))

    def histogram(self, name: str, sentence: str, bounds: Sequence[float]) -> Histogram:
        """Something of which the spread counts; `bounds` grow."""
        return self._declare(Histogram(name, sentence, bounds))

    def _declare(self, metric: _Kind) -> _Kind:
        assert metric.name not in self._metrics, f"{metric.name} is declared twice"
        self._metrics[metric.name] = metric
        return metric

    def text(self) -> str:
        """Everything in Prometheus' text format."""
        return "\n".join(line for metric in self._metrics.values() for line in metric.lines()) + "\n"


def _line(name: str, labels: Labels, value: float) -> str:
    inner = ",".join(f'{key}="{_escape(text)}"' for key, text in labels)
    return f"{name}{{{inner}}} {value:.17g}" if inner else f"{name} {value:.17g}"


def _escape(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
