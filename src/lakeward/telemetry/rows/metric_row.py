"""MetricRow: one row per metric. Name, kind, unit, labels, what it means, and what to do when it looks wrong."""

from __future__ import annotations

import enum
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

_NAME = re.compile(r"[a-z][a-z0-9_]*")
_LABEL = re.compile(r"[a-z][a-z0-9_]*")
#: Units that a name has to end in, before `_total`.
_NAMED_UNITS = frozenset(("seconds", "bytes"))


class Kind(enum.StrEnum):
    """How the values of a metric are to be read, in Prometheus' words."""

    COUNTER = "counter"
    GAUGE = "gauge"
    HISTOGRAM = "histogram"
    SUMMARY = "summary"


@dataclass(frozen=True, slots=True)
class MetricRow:
    """One metric. `bounds` are those of a histogram, or the quantiles of a summary."""

    name: str
    kind: Kind
    unit: str
    labels: tuple[str, ...]
    meaning: str
    what_to_do: str
    bounds: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        assert _NAME.fullmatch(self.name), f"{self.name} is not a name for Prometheus"
        assert self.name.endswith("_total") == (self.kind is Kind.COUNTER), f"{self.name}: counters end in _total"
        assert all(map(_LABEL.fullmatch, self.labels)), f"{self.name} has a label that is none"
        assert {"le", "quantile"}.isdisjoint(self.labels), f"{self.name} has a label that Prometheus needs itself"
        for sentence in (self.meaning, self.what_to_do):
            assert sentence.endswith((".", "?")), f"the text of {self.name} is not a sentence"
        if self.unit in _NAMED_UNITS:
            assert self.name.removesuffix("_total").endswith(self.unit), f"{self.name} does not say its unit"
        has_bounds = self.kind in {Kind.HISTOGRAM, Kind.SUMMARY}
        assert has_bounds == bool(self.bounds), f"{self.name}: only histograms and summaries have bounds"
        assert list(self.bounds) == sorted(set(self.bounds)), f"the bounds of {self.name} do not grow"


class MetricTable:
    """The rows of one part: what they are about, and who shows them."""

    def __init__(self, title: str, shown_by: str) -> None:
        assert shown_by.endswith(".")
        self.title = title
        self.shown_by = shown_by
        self._rows: dict[str, MetricRow] = {}

    def __iter__(self) -> Iterator[MetricRow]:
        return iter(self._rows.values())

    def counter(self, name: str, unit: str, meaning: str, what_to_do: str, labels: Sequence[str] = ()) -> MetricRow:
        """Something that only grows."""
        return self._add(MetricRow(name, Kind.COUNTER, unit, tuple(labels), meaning, what_to_do))

    def gauge(self, name: str, unit: str, meaning: str, what_to_do: str, labels: Sequence[str] = ()) -> MetricRow:
        """Something that goes up and down."""
        return self._add(MetricRow(name, Kind.GAUGE, unit, tuple(labels), meaning, what_to_do))

    def histogram(
        self, name: str, unit: str, bounds: Sequence[float], meaning: str, what_to_do: str, labels: Sequence[str] = ()
    ) -> MetricRow:
        """Something of which the spread counts, by bounds."""
        return self._add(MetricRow(name, Kind.HISTOGRAM, unit, tuple(labels), meaning, what_to_do, tuple(bounds)))

    def summary(
        self, name: str, unit: str, quantiles: Sequence[float], meaning: str, what_to_do: str, labels: Sequence[str]
    ) -> MetricRow:
        """Something of which the spread counts, by shares of it."""
        return self._add(MetricRow(name, Kind.SUMMARY, unit, tuple(labels), meaning, what_to_do, tuple(quantiles)))

    def _add(self, row: MetricRow) -> MetricRow:
        assert row.name not in self._rows, f"{row.name} is declared twice"
        self._rows[row.name] = row
        return row
