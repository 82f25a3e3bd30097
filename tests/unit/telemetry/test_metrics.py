"""Counters, gauges and histograms as Prometheus text."""

from __future__ import annotations

from lakeward.telemetry.metrics import Metrics
from lakeward.telemetry.rows.metric_row import MetricTable
from lakeward.telemetry.spread import Spread

ROWS = MetricTable("Tests", "Shown by tests.")
LAG = ROWS.gauge("lag", "rows", "How far behind.", "Wait.", ("table",))
TOOK = ROWS.histogram("took_seconds", "seconds", (0.1, 1), "How long it took.", "Wait.", ("tier",))
RECENT = ROWS.summary("recent_seconds", "seconds", (0.5, 0.99), "How long it takes.", "Wait.", ())
ODD = ROWS.counter("odd_total", "things", "A \\ and\na line.", "Wait.", ("name",))


def test_values_by_label_can_be_asked_for_when_printed() -> None:
    """Of what comes and goes only that is printed which is there; with nothing there, nothing is."""
    metrics = Metrics()
    there: dict[tuple[str, ...], float] = {}
    gauge = metrics.gauge(LAG)
    gauge.read_all_from(lambda: there)
    assert "\nlag" not in metrics.text()
    there["a.b",] = 3
    assert metrics.text().endswith('\nlag{table="a.b"} 3\n')
    assert gauge.value(("a.b",)) == 3
    assert gauge.value() == 0


def test_a_histogram_counts_what_is_at_most_each_bound() -> None:
    """Buckets add up as Prometheus wants them: each holds those below it, the last one all."""
    metrics = Metrics()
    seconds = metrics.histogram(TOOK)
    assert metrics.text() == "# HELP took_seconds How long it took.\n# TYPE took_seconds histogram\n"
    for value in (0.05, 0.1, 0.5, 7):
        seconds.observe(value, ("HYBRID",))
    assert seconds.count(("HYBRID",)) == 4
    assert seconds.count() == 0
    assert metrics.text().splitlines()[2:] == [
        'took_seconds_bucket{tier="HYBRID",le="0.1"} 2',
        'took_seconds_bucket{tier="HYBRID",le="1"} 3',
        'took_seconds_bucket{tier="HYBRID",le="+Inf"} 4',
        'took_seconds_sum{tier="HYBRID"} 7.65',
        'took_seconds_count{tier="HYBRID"} 4',
    ]


def test_a_summary_has_quantiles() -> None:
    """Where nothing was counted they are no number, as Prometheus' own libraries have it."""
    metrics, spread = Metrics(), Spread()
    metrics.spreads(RECENT, lambda: {(): spread})
    assert 'recent_seconds{quantile="0.5"} NaN' in metrics.text().splitlines()
    spread.observe(0.3)
    assert metrics.text().splitlines()[2:] == [
        'recent_seconds{quantile="0.5"} 0.2975',
        'recent_seconds{quantile="0.99"} 0.2975',
        "recent_seconds_sum 0.3",
        "recent_seconds_count 1",
    ]


def test_what_would_break_a_line_is_escaped() -> None:
    """In the sentence backslashes and ends of lines, in labels quotes as well."""
    metrics = Metrics()
    metrics.counter(ODD).add(1, ('a"b\\c\nd',))
    assert metrics.text() == (
        '# HELP odd_total A \\\\ and\\na line.\n# TYPE odd_total counter\nodd_total{name="a\\"b\\\\c\\nd"} 1\n'
    )


def test_what_takes_long_is_done_in_steps_before() -> None:
    """Others may be served in between, and what is printed is what was found."""
    metrics, found = Metrics(), []

    def look() -> object:
        for number in range(3):
            found.append(number)
            yield

    metrics.before(look)
    metrics.gauge(LAG).read_all_from(lambda: {("a",): len(found)})
    steps = metrics.text_steps()
    next(steps)
    assert found == [0]
    assert metrics.text().endswith('lag{table="a"} 4\n')
