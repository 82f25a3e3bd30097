"""MetricsText: Prometheus' text, read."""

from __future__ import annotations

from lakeward.console.cluster.metrics_text import MetricsText

_TEXT = """# HELP rows Rows.
# TYPE rows counter
rows{table="a.b",side="in"} 5
rows{table="a.\\"c\\"",side="in"} 7 1700000000000
rows{table="a.b",side="out"} 1e3
up 1
no number NaNa
strange line that is none {
"""


def test_samples_are_summed_by_labels() -> None:
    """All of them, those with a label, and by the values of one."""
    metrics = MetricsText(_TEXT)
    assert metrics.total("rows") == 1012
    assert metrics.total("rows", side="in") == 12
    assert metrics.by_label("rows", "table") == {"a.b": 1005, 'a."c"': 7}
    assert metrics.total("up") == 1


def test_what_is_not_told_is_none() -> None:
    """Nothing is not zero."""
    assert MetricsText(_TEXT).total("rows", table="x") is None
    assert MetricsText("").total("rows") is None
