"""Sample: what was counted at one moment. Rates are the difference of two."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from lakeward.console.cluster.metrics_text import MetricsText
from lakeward.telemetry.rows import requests, storage, tables

#: Counters of a Lakeward by table → what they count here.
_COUNTERS = {
    "rows_in": tables.TABLE_ROWS_IN.name,
    "rows_out": tables.TABLE_ROWS_OUT.name,
    "bytes_in": tables.TABLE_BYTES_IN.name,
    "bytes_out": tables.TABLE_BYTES_OUT.name,
}
_GAUGES = {
    "tables": storage.TABLES.name,
    "buckets": storage.BUCKETS.name,
    "connections": requests.CONNECTIONS.name,
    "stored_bytes": storage.LOG_BYTES.name,
    "disk_free": storage.DISK_FREE.name,
    "disk_total": storage.DISK_TOTAL.name,
}


@dataclass(frozen=True, slots=True)
class Sample:
    """Counters and gauges by name, and rows in by table; what nobody tells is missing."""

    at_s: float
    counters: Mapping[str, float] = field(default_factory=dict)
    gauges: Mapping[str, float] = field(default_factory=dict)
    rows_by_table: Mapping[str, float] = field(default_factory=dict)


def sample_of_metrics(metrics: MetricsText, at_s: float) -> Sample:
    """What a Lakeward's /metrics say."""
    gauges = {name: total for name, metric in _GAUGES.items() if (total := metrics.total(metric)) is not None}
    counts = "buckets" in gauges  # a server that is older than these counters does not tell this either
    return Sample(
        at_s,
        {name: metrics.total(metric) or 0.0 for name, metric in _COUNTERS.items()} if counts else {},
        gauges,
        metrics.by_label(_COUNTERS["rows_in"], "table"),
    )


def sample_of_offsets(rows_by_table: Mapping[str, int], at_s: float) -> Sample:
    """What the ends of logs say: how many rows have ever been written."""
    rows = {table: float(count) for table, count in rows_by_table.items()}
    return Sample(at_s, {"rows_in": sum(rows.values())}, {}, rows)


def rates(before: Sample | None, now: Sample) -> dict[str, float]:
    """What came and went in a second. A counter that began anew, since the server did, counts from nothing."""
    if before is None or now.at_s <= before.at_s:
        return {}
    passed_s = now.at_s - before.at_s
    found = {}
    for name, count in now.counters.items():
        if name in before.counters:
            grown = count - before.counters[name]
            found[name] = (grown if grown >= 0 else count) / passed_s
    return found


def busiest_table(before: Sample | None, now: Sample) -> str | None:
    """The table that most rows came into; None if none came."""
    if before is None:
        return None
    grown = {table: count - before.rows_by_table.get(table, count) for table, count in now.rows_by_table.items()}
    best = max(grown, key=lambda table: grown[table], default=None)
    return best if best is not None and grown[best] > 0 else None
