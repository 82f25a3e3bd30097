"""Alerts stand on metrics that exist, and say what to do."""

from __future__ import annotations

import re

import pytest

from lakeward.monitoring.alerts import ALERTS, PAGE, TICKET, Alert
from lakeward.telemetry.rows.every_row import EVERY_ROW

_METRIC = re.compile(r"\b(?:lakeward|process)_[a-z_]+")


@pytest.mark.parametrize("alert", ALERTS, ids=lambda alert: alert.name)
def test_an_alert_names_only_metrics_that_have_a_row(alert: Alert) -> None:
    """The series of a histogram belong to its row."""
    asked = set(_METRIC.findall(alert.expression(alert.limit)))
    assert {name.removesuffix("_bucket") for name in asked} <= set(EVERY_ROW)


@pytest.mark.parametrize("alert", ALERTS, ids=lambda alert: alert.name)
def test_an_alert_is_written_for_somebody_who_was_asleep(alert: Alert) -> None:
    """Whole sentences: what it is, and what to do."""
    assert alert.severity in {PAGE, TICKET}
    assert all(text.endswith(".") for text in (alert.summary, alert.meaning, alert.todo))
    assert alert.name.startswith("Lakeward")
