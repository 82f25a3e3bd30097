"""Sample: what came and went between two moments."""

from __future__ import annotations

from lakeward.console.cluster.metrics_text import MetricsText
from lakeward.console.pages.overview.sample import (
    Sample,
    busiest_table,
    rates,
    sample_of_metrics,
    sample_of_offsets,
)


def test_rates_are_differences_over_time() -> None:
    """The first sample has none; a server that was started again counts from nothing."""
    first, second = Sample(10, {"rows_in": 100}), Sample(12, {"rows_in": 300, "rows_out": 5})
    assert rates(None, first) == {}
    assert rates(first, second) == {"rows_in": 100}
    assert rates(second, Sample(14, {"rows_in": 50})) == {"rows_in": 25}
    assert rates(second, second) == {}


def test_a_server_without_traffic_counts_zero_and_one_without_counters_nothing() -> None:
    """Counters of tables appear with the first row."""
    assert sample_of_metrics(MetricsText('lakeward_buckets{state="open"} 2\n'), 1).counters["rows_in"] == 0
    assert sample_of_metrics(MetricsText("lakeward_tables 2\n"), 1).counters == {}


def test_the_busiest_table_is_the_one_that_grew_most() -> None:
    """A table that is new has not grown, as far as was seen."""
    before = sample_of_offsets({"a": 5, "b": 10}, 1)
    assert busiest_table(before, sample_of_offsets({"a": 9, "b": 11, "c": 99}, 2)) == "a"
    assert busiest_table(before, before) is None
    assert busiest_table(None, before) is None
