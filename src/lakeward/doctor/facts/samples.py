"""Samples: the numbers of a page of metrics, found by name and labels."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

_LINE = re.compile(r"([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)")
_LABEL = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\]|\\.)*)"')
_ESCAPE = re.compile(r"\\(.)")
#: A page of ten thousand tables has fewer; more is not read.
_LINES_MAX = 500_000


class Sample(NamedTuple):
    """One number."""

    labels: Mapping[str, str]
    value: float


class Samples:
    """All numbers of a page."""

    def __init__(self, by_name: Mapping[str, Sequence[Sample]]) -> None:
        self._by_name = by_name

    @classmethod
    def parse(cls, text: str) -> Samples:
        """Read Prometheus' text format; lines that are not of it are passed over."""
        found: dict[str, list[Sample]] = {}
        for line in text.splitlines()[:_LINES_MAX]:
            if line.startswith("#"):
                continue
            read = _LINE.match(line)
            if read is None:
                continue
            try:
                value = float(read[3])
            except ValueError:
                continue
            labels = {name: _ESCAPE.sub(_unescape, text) for name, text in _LABEL.findall(read[2] or "")}
            found.setdefault(read[1], []).append(Sample(labels, value))
        return cls(found)

    def all(self, name: str) -> Sequence[Sample]:
        """Every number of a name."""
        return self._by_name.get(name, ())

    def total(self, name: str, **labels: str) -> float | None:
        """The sum of the numbers that have these labels; None where there are none."""
        found = [s.value for s in self.all(name) if labels.items() <= s.labels.items()]
        return sum(found) if found else None

    def quantile(self, name: str, share: float, **labels: str) -> float | None:
        """The bound of a histogram below which this share of its values is; None where there are no values."""
        below: dict[float, float] = {}
        for sample in self.all(f"{name}_bucket"):
            if labels.items() <= sample.labels.items() and "le" in sample.labels:
                bound = float(sample.labels["le"])
                below[bound] = below.get(bound, 0.0) + sample.value
        count = max(below.values(), default=0.0)
        return next((bound for bound in sorted(below) if below[bound] >= share * count), None) if count else None


def _unescape(found: re.Match[str]) -> str:
    return "\n" if found[1] == "n" else found[1]
