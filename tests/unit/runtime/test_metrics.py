"""Counters, gauges and histograms as Prometheus text."""

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


def test_a_histogram_counts_what_is_at_most_each_bound() -> None:
    """Buckets add up as Prometheus wants them: each holds those below it, the last one all."""
    metrics = Metrics()
    seconds = metrics.histogram("took_seconds", "How long it took.", (0.1, 1))
    assert metrics.text() == "# HELP took_seconds How long it took.\n# TYPE took_seconds histogram\n"
    for value in (0.05, 0.1, 0.5, 7):
        seconds.observe(value, (("tier", "HYBRID"),))
    assert seconds.count((("tier", "HYBRID"),)) == 4
    assert seconds.count() == 0
    assert metrics.text().splitlines()[2:] == [
        'took_seconds_bucket{tier="HYBRID",le="0.1"} 2',
        'took_seconds_bucket{tier="HYBRID",le="1"} 3',
        'took_seconds_bucket{tier="HYBRID",le="+Inf"} 4',
        'took_seconds_sum{tier="HYBRID"} 7.6500000000000004',
        'took_seconds_count{tier="HYBRID"} 4',
    ]
