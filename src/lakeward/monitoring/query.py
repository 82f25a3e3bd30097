"""Query: a question to Prometheus about one metric, checked against the metric's row."""

from __future__ import annotations

from typing import NamedTuple

from lakeward.telemetry.rows.metric_row import Kind, MetricRow

#: Grafana puts a window here that fits how often Prometheus looks.
WINDOW = "$__rate_interval"


class Query(NamedTuple):
    """What is asked, of which metric, and what each line is called."""

    row: MetricRow
    text: str
    legend: str
    unit: str


def rate(row: MetricRow, *by: str, where: str = "") -> Query:
    """How fast a counter grows, a line for each value of some labels."""
    assert row.kind is Kind.COUNTER, row.name
    inner = f"rate({_select(row.name, by, row, where)}[{WINDOW}])"
    return Query(row, _sum(inner, by), _legend(by), f"{row.unit}/s")


def value(row: MetricRow, *by: str, where: str = "", over: str = "sum") -> Query:
    """A gauge as it is; of several servers the sum, or what `over` says."""
    assert row.kind is Kind.GAUGE, row.name
    return Query(row, _sum(_select(row.name, by, row, where), by, over), _legend(by), row.unit)


def quantile(row: MetricRow, share: float, *by: str, where: str = "") -> Query:
    """A time that a share of all stays below, by a histogram."""
    assert row.kind is Kind.HISTOGRAM, row.name
    inner = f"rate({_select(f'{row.name}_bucket', by, row, where)}[{WINDOW}])"
    legend = f"p{share * 100:g} {_legend(by)}".strip() if by else f"p{share * 100:g}"
    return Query(row, f"histogram_quantile({share:g}, {_sum(inner, ('le', *by))})", legend, row.unit)


def part(row: MetricRow, whole: MetricRow, legend: str) -> Query:
    """A gauge as a share of another."""
    assert row.kind is whole.kind is Kind.GAUGE, row.name
    return Query(row, f"{row.name} / {whole.name}", legend, "ratio")


def _select(name: str, by: tuple[str, ...], row: MetricRow, where: str) -> str:
    assert set(by) <= {*row.labels, "instance", "job"}, f"{row.name} has no label {by}"
    return f"{name}{{{where}}}" if where else name


def _sum(inner: str, by: tuple[str, ...], over: str = "sum") -> str:
    return f"{over} by ({', '.join(by)}) ({inner})" if by else f"{over}({inner})"


def _legend(by: tuple[str, ...]) -> str:
    return " ".join(f"{{{{{label}}}}}" for label in by)
