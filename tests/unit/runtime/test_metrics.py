"""Counters and gauges as Prometheus text."""

from __future__ import annotations

from lakeward.runtime.metrics import Metrics


def test_values_by_label_can_be_asked_for_when_printed() -> None:
    """Of what comes and goes only that is printed which is there; with nothing there, nothing is."""
    metrics = Metrics()
    there: dict[tuple[tuple[str, str], ...], float] = {}
    gauge = metrics.gauge("lag", "How far behind.")
    gauge.read_all_from(lambda: there)
    assert "\nlag" not in metrics.text()
    there[("table", "a.b"),] = 3
    assert metrics.text().endswith('\nlag{table="a.b"} 3\n')
    assert gauge.value((("table", "a.b"),)) == 3
    assert gauge.value() == 0
