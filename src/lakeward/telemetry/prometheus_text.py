"""Metrics as text, in Prometheus' format 0.0.4."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from lakeward.telemetry.rows.metric_row import Kind, MetricRow

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"


class Point(NamedTuple):
    """The value for one set of labels: of a counter or gauge; of a histogram or summary it is the sum, and `counts`
    are how many values there were up to each bound and in all."""

    labels: tuple[str, ...]
    value: float
    counts: tuple[int, ...] = ()
    quantiles: tuple[float, ...] = ()


class Family(NamedTuple):
    """A metric with all its values."""

    row: MetricRow
    points: tuple[Point, ...]


def family_lines(family: Family) -> Iterable[str]:
    """The lines of one metric."""
    row = family.row
    yield f"# HELP {row.name} {_escape_help(row.meaning)}"
    yield f"# TYPE {row.name} {row.kind}"
    for point in family.points:
        match row.kind:
            case Kind.HISTOGRAM:
                yield from _histogram_lines(row, point)
            case Kind.SUMMARY:
                yield from _summary_lines(row, point)
            case _:
                yield _line(row.name, _pairs(row, point), point.value)


def _histogram_lines(row: MetricRow, point: Point) -> Iterable[str]:
    labels = _pairs(row, point)
    for bound, count in zip((*(f"{bound:g}" for bound in row.bounds), "+Inf"), point.counts, strict=True):
        yield _line(f"{row.name}_bucket", [*labels, f'le="{bound}"'], count)
    yield _line(f"{row.name}_sum", labels, point.value)
    yield _line(f"{row.name}_count", labels, point.counts[-1])


def _summary_lines(row: MetricRow, point: Point) -> Iterable[str]:
    labels = _pairs(row, point)
    for share, value in zip(row.bounds, point.quantiles, strict=True):
        yield _line(row.name, [*labels, f'quantile="{share:g}"'], value)
    yield _line(f"{row.name}_sum", labels, point.value)
    yield _line(f"{row.name}_count", labels, point.counts[-1])


def _pairs(row: MetricRow, point: Point) -> list[str]:
    return [f'{name}="{_escape_label(text)}"' for name, text in zip(row.labels, point.labels, strict=True)]


def _line(name: str, labels: list[str], value: float) -> str:
    # The shortest text that is read as the same number.
    shown = "NaN" if value != value else repr(int(value) if float(value).is_integer() else value)
    return f"{name}{{{','.join(labels)}}} {shown}" if labels else f"{name} {shown}"


def _escape_help(text: str) -> str:
    return text.replace("\\", "\\\\").replace("\n", "\\n")


def _escape_label(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
