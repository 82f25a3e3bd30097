"""Sample: what was counted at one moment. Rates are the difference of two."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from lakeward.console.cluster.metrics_text import MetricsText

#: Counters of a Lakeward by table → what they count here.
_COUNTERS = {
    "rows_in": "lakeward_table_rows_in_total",
    "rows_out": "lakeward_table_rows_out_total",
    "bytes_in": "lakeward_table_in_bytes_total",
    "bytes_out": "lakeward_table_out_bytes_total",
}
_GAUGES = {
    "tables": "lakeward_tables",
    "buckets": "lakeward_buckets",
    "connections": "lakeward_connections",
    "stored_bytes": "lakeward_log_bytes",
    "disk_free": "lakeward_disk_free_bytes",
    "disk_total": "lakeward_disk_total_bytes",
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
    return Sample(
        at_s,
        {name: total for name, metric in _COUNTERS.items() if (total := metrics.total(metric)) is not None},
        {name: total for name, metric in _GAUGES.items() if (total := metrics.total(metric)) is not None},
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
