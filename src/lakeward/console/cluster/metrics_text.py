"""MetricsText: Prometheus' text as numbers that can be asked for by name and labels."""

from __future__ import annotations

import re
from collections.abc import Mapping

_LINE = re.compile(r"^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)(?: \d+)?$")
_LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')

Labels = Mapping[str, str]


class MetricsText:
    """What a server counts, at one moment: `samples` of a metric, their `total`, or sums `by_label`."""

    def __init__(self, text: str) -> None:
        self._samples: dict[str, list[tuple[dict[str, str], float]]] = {}
        for line in text.splitlines():
            found = None if line.startswith("#") else _LINE.match(line)
            if found is not None:
                self._add(found[1], found[2] or "", found[3])

    def _add(self, name: str, labels: str, value: str) -> None:
        try:
            number = float(value)
        except ValueError:
            return
        pairs = {key: _plain(text) for key, text in _LABEL.findall(labels)}
        self._samples.setdefault(name, []).append((pairs, number))

    def samples(self, name: str) -> list[tuple[dict[str, str], float]]:
        """Every sample of a metric, with its labels."""
        return self._samples.get(name, [])

    def total(self, name: str, **labels: str) -> float | None:
        """The sum of the samples that have these labels; None if there are none."""
        found = [v for pairs, v in self.samples(name) if all(pairs.get(k) == text for k, text in labels.items())]
        return sum(found) if found else None

    def by_label(self, name: str, label: str) -> dict[str, float]:
        """Sums by the value of one label."""
        sums: dict[str, float] = {}
        for pairs, value in self.samples(name):
            if label in pairs:
                sums[pairs[label]] = sums.get(pairs[label], 0.0) + value
        return sums


def _plain(text: str) -> str:
    return re.sub(r"\\(.)", lambda found: "\n" if found[1] == "n" else found[1], text)
