"""Metrics → the body of POST /v1/metrics."""

from __future__ import annotations

from collections.abc import Generator
from itertools import pairwise

from lakeward.telemetry.otlp.resource import Resource, attributes, envelope
from lakeward.telemetry.otlp.wire import binary, double, double_list, integer, integer_list, text, whole
from lakeward.telemetry.prometheus_text import Family, Point
from lakeward.telemetry.rows.metric_row import Kind, MetricRow

_CUMULATIVE = 2
#: Units as OpenTelemetry writes them.
_UNITS = {"seconds": "s", "bytes": "By", "1": "1"}


def metrics_body(
    families: list[Family], resource: Resource, begun_ms: int, now_ms: int
) -> Generator[None, None, bytes]:
    """The whole request, in steps; counters count since `begun_ms`."""
    times = integer(2, begun_ms * 1_000_000) + integer(3, now_ms * 1_000_000)
    messages = []
    for family in families:
        if family.points:
            messages.append(binary(2, _metric(family, times)))
        yield
    return envelope(resource, b"".join(messages))


def _metric(family: Family, times: bytes) -> bytes:
    row = family.row
    head = text(1, row.name) + text(2, row.meaning) + text(3, _UNITS.get(row.unit, f"{{{row.unit}}}"))
    match row.kind:
        case Kind.GAUGE:
            return head + binary(5, _points(family, times))
        case Kind.COUNTER:
            return head + binary(7, _points(family, times) + whole(2, _CUMULATIVE) + whole(3, 1))
        case Kind.HISTOGRAM:
            return head + binary(9, _points(family, times) + whole(2, _CUMULATIVE))
        case Kind.SUMMARY:
            return head + binary(11, _points(family, times))


def _points(family: Family, times: bytes) -> bytes:
    return b"".join(binary(1, _point(family.row, point, times)) for point in family.points)


def _point(row: MetricRow, point: Point, times: bytes) -> bytes:
    labels = dict(zip(row.labels, point.labels, strict=True))
    match row.kind:
        case Kind.HISTOGRAM:
            counts = [point.counts[0], *(after - before for before, after in pairwise(point.counts))]
            spread = integer_list(6, counts) + double_list(7, row.bounds)
            return attributes(9, labels) + times + integer(4, point.counts[-1]) + double(5, point.value) + spread
        case Kind.SUMMARY:
            pairs = zip(row.bounds, point.quantiles, strict=True)
            quantiles = b"".join(binary(6, double(1, share) + double(2, value)) for share, value in pairs)
            return attributes(7, labels) + times + integer(4, point.counts[-1]) + double(5, point.value) + quantiles
        case _:
            return attributes(7, labels) + times + double(4, point.value)
