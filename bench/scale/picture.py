"""Small multiples as SVG: log-log panels that are readable on light and dark ground. Pure, and no library."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape

_WIDTH, _HEIGHT = 300, 210
_LEFT, _RIGHT, _TOP, _BOTTOM = 44, 20, 30, 34
_LEGEND = 20
_COLUMNS = 3
#: Told apart by lightness, too, and visible on white and on black.
COLOURS = {"p50": "#3b82f6", "p95": "#8b5cf6", "p99": "#ec4899", "whole": "#10a37f", "other": "#d97706"}
_STYLE = (
    "text{font:11px sans-serif;fill:#666}.t{font-weight:bold;font-size:12px}.g{stroke:#8884;stroke-width:1}"
    ".f{fill:none;stroke:#8888}@media(prefers-color-scheme:dark){text{fill:#ccc}}"
)


@dataclass(frozen=True)
class Curve:
    """A line of a panel; `dashed` for others than us."""

    name: str
    points: Sequence[tuple[float, float]]
    colour: str
    dashed: bool = False


@dataclass(frozen=True)
class Panel:
    """One small picture: a work along an axis."""

    title: str
    x_name: str
    unit: str
    curves: list[Curve] = field(default_factory=list)


def svg(title: str, panels: Sequence[Panel]) -> str:
    """All panels, three beside each other, and a legend below."""
    shown = [panel for panel in panels if any(curve.points for curve in panel.curves)]
    rows = max(math.ceil(len(shown) / _COLUMNS), 1)
    width, height = _COLUMNS * _WIDTH, rows * _HEIGHT + 2 * _LEGEND + 10
    parts = [
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
            f'role="img"><title>{escape(title)}</title><style>{_STYLE}</style>'
        )
    ]
    for number, panel in enumerate(shown):
        at = (number % _COLUMNS * _WIDTH, number // _COLUMNS * _HEIGHT)
        parts.append(f'<g transform="translate({at[0]},{at[1]})">{_panel(panel)}</g>')
    return "\n".join([*parts, _legend(shown, rows * _HEIGHT + 18), "</svg>", ""])


def _panel(panel: Panel) -> str:
    points = [point for curve in panel.curves for point in curve.points]
    xs = _decades([x for x, _ in points])
    ys = _decades([y for _, y in points])

    def place(x: float, y: float) -> tuple[float, float]:
        across = (math.log10(x) - xs[0]) / (xs[1] - xs[0])
        up = (math.log10(y) - ys[0]) / (ys[1] - ys[0])
        wide, high = _WIDTH - _LEFT - _RIGHT, _HEIGHT - _TOP - _BOTTOM
        return round(_LEFT + across * wide, 1), round(_HEIGHT - _BOTTOM - up * high, 1)

    parts = [f'<text class="t" x="{_LEFT}" y="18">{escape(panel.title)}, {escape(panel.unit)}</text>']
    for power in range(xs[0], xs[1] + 1):
        x, y = place(10**power, 10 ** ys[0])
        parts.append(f'<path class="g" d="M{x} {_TOP}V{y}"/>')
        parts.append(f'<text x="{x}" y="{y + 14}" text-anchor="middle">{short(10**power)}</text>')
    for power in range(ys[0], ys[1] + 1):
        x, y = place(10 ** xs[0], 10**power)
        parts.append(f'<path class="g" d="M{x} {y}H{_WIDTH - _RIGHT}"/>')
        parts.append(f'<text x="{x - 5}" y="{y + 4}" text-anchor="end">{short(10**power)}</text>')
    middle = (_LEFT + _WIDTH - _RIGHT) / 2
    parts.append(f'<text x="{middle}" y="{_HEIGHT - 5}" text-anchor="middle">{escape(panel.x_name)}</text>')
    parts += [_line(curve, [place(x, y) for x, y in curve.points]) for curve in panel.curves if curve.points]
    return "".join(parts)


def _line(curve: Curve, places: Sequence[tuple[float, float]]) -> str:
    dash = ' stroke-dasharray="5 4"' if curve.dashed else ""
    path = "L".join(f"{x} {y}" for x, y in places)
    dots = "".join(f'<circle cx="{x}" cy="{y}" r="2.6" fill="{curve.colour}"/>' for x, y in places)
    return f'<path d="M{path}" fill="none" stroke="{curve.colour}" stroke-width="1.8"{dash}/>{dots}'


def _legend(panels: Sequence[Panel], y: int) -> str:
    seen: dict[str, Curve] = {}
    for panel in panels:
        for curve in panel.curves:
            if curve.points:
                seen.setdefault(curve.name, curve)
    parts, x = [], _LEFT
    for name, curve in seen.items():
        if x + 27 + 7 * len(name) > _COLUMNS * _WIDTH:
            x, y = _LEFT, y + _LEGEND
        dash = ' stroke-dasharray="5 4"' if curve.dashed else ""
        parts.append(f'<path d="M{x} {y - 4}h22" stroke="{curve.colour}" stroke-width="2"{dash}/>')
        parts.append(f'<text x="{x + 27}" y="{y}">{escape(name)}</text>')
        x += 50 + 7 * len(name)
    return "".join(parts)


def _decades(values: Sequence[float]) -> tuple[int, int]:
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    return low, max(high, low + 1)


def short(value: float) -> str:
    """100000 → 100k, 0.01 → 0.01."""
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= size:
            return f"{value / size:.3g}{letter}"
    return f"{value:.3g}"
