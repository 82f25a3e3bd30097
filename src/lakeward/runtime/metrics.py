"""Counters and gauges, declared like options and printed as Prometheus text."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

Labels = tuple[tuple[str, str], ...]


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
            inner = ",".join(f'{key}="{_escape(text)}"' for key, text in labels)
            yield f"{self.name}{{{inner}}} {value:.17g}" if inner else f"{self.name} {value:.17g}"

    def _all(self) -> Mapping[Labels, float]:
        if self._read_all:
            return self._read_all()
        return {(): self._read()} if self._read else (self._values or {(): 0.0})


class Metrics:
    """All metrics of one process."""

    def __init__(self) -> None:
        self._metrics: dict[str, Metric] = {}

    def counter(self, name: str, sentence: str) -> Metric:
        """Something that only grows."""
        return self._declare(Metric(name, "counter", sentence))

    def gauge(self, name: str, sentence: str) -> Metric:
        """Something that goes up and down."""
        return self._declare(Metric(name, "gauge", sentence))

    def _declare(self, metric: Metric) -> Metric:
        assert metric.name not in self._metrics, f"{metric.name} is declared twice"
        self._metrics[metric.name] = metric
        return metric

    def text(self) -> str:
        """Everything in Prometheus' text format."""
        return "\n".join(line for metric in self._metrics.values() for line in metric.lines()) + "\n"


def _escape(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
