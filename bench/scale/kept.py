"""Figures as JSON: an interrupted run goes on, pictures and pages are made again without measuring."""

from __future__ import annotations

import json
import statistics
from collections.abc import Sequence
from pathlib import Path
from typing import Any

#: Beside the pages that are made from it, so that they can be checked and drawn again.
FILE = Path(__file__).parents[2] / "docs" / "figures" / "scale.json"

Figure = dict[str, Any]


class Kept:
    """`axis → point → who → work → figure`, written after each work."""

    def __init__(self, path: Path = FILE) -> None:
        self._path = path
        self.all: dict[str, dict[str, dict[str, dict[str, Figure]]]] = {}
        if path.exists():
            self.all = json.loads(path.read_text())

    def at(self, axis: str, value: int, who: str) -> dict[str, Figure]:
        """What is known of a point."""
        return self.all.get(axis, {}).get(str(value), {}).get(who, {})

    def note(self, axis: str, value: int, who: str, work: str, figure: Figure) -> None:
        """Keep a figure: on disk at once, never half of it."""
        self.all.setdefault(axis, {}).setdefault(str(value), {}).setdefault(who, {})[work] = figure
        self._path.parent.mkdir(parents=True, exist_ok=True)
        coming = self._path.with_suffix(".coming")
        coming.write_text(json.dumps(self.all, indent=1, sort_keys=True, ensure_ascii=False) + "\n")
        coming.replace(self._path)

    def curve(self, axis: str, who: str, work: str, key: str) -> list[tuple[int, float]]:
        """One figure of a work along an axis, as far as it was measured."""
        points = sorted((int(value), found.get(who, {})) for value, found in self.all.get(axis, {}).items())
        return [(value, found[work][key]) for value, found in points if key in found.get(work, {})]


def percentiles(times_ms: Sequence[float]) -> Figure:
    """P50, P95 and P99, and of how many."""
    if len(times_ms) < 2:
        return {name: _short(times_ms[0]) for name in ("p50", "p95", "p99")} | {"n": len(times_ms)}
    cuts = statistics.quantiles(times_ms, n=100, method="inclusive")
    return {"p50": _short(cuts[49]), "p95": _short(cuts[94]), "p99": _short(cuts[98]), "n": len(times_ms)}


def _short(value: float) -> float:
    return float(f"{value:.4g}")


def rounded(figure: Figure) -> Figure:
    """Four digits are more than a run can repeat."""
    return {key: _short(value) if isinstance(value, float) else value for key, value in figure.items()}
