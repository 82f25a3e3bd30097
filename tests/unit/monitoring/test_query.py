"""Questions to Prometheus are checked against the rows of metrics."""

from __future__ import annotations

import pytest

from lakeward.monitoring.query import part, quantile, rate, value
from lakeward.telemetry.rows import process, requests, storage


def test_a_counter_is_asked_for_its_rate() -> None:
    """By labels that it has."""
    assert rate(requests.REQUESTS, "api").text == "sum by (api) (rate(lakeward_requests_total[$__rate_interval]))"
    assert rate(requests.REQUESTS).unit == "requests/s"


def test_a_histogram_is_asked_for_a_quantile() -> None:
    """Over all servers, since buckets can be added up."""
    asked = quantile(process.LOOP_DELAY, 0.99)
    assert asked.text.startswith("histogram_quantile(0.99, sum by (le) (rate(lakeward_event_loop_delay_seconds_bucket[")
    assert asked.legend == "p99"


def test_a_gauge_may_be_a_share_of_another() -> None:
    """As a ratio, whatever its own unit is."""
    assert part(storage.DISK_FREE, storage.DISK_TOTAL, "free").unit == "ratio"


@pytest.mark.parametrize(
    "ask",
    [
        lambda: rate(requests.CONNECTIONS),
        lambda: value(requests.REQUESTS),
        lambda: rate(requests.REQUESTS, "table"),
        lambda: quantile(requests.REQUESTS, 0.5),
    ],
)
def test_what_a_metric_cannot_answer_cannot_be_asked(ask: object) -> None:
    """A rate of a gauge, a label that is not there, a quantile of a counter."""
    with pytest.raises(AssertionError):
        ask()  # type: ignore[operator]
