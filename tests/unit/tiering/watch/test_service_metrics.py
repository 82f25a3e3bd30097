"""What the service counts."""

from __future__ import annotations

import re
import urllib.error
import urllib.request
from collections.abc import Iterator
from typing import Any

import pytest

from lakeward.client.admin.lake import TieringRound
from lakeward.errors import ErrorCode
from lakeward.model.table import TablePath
from lakeward.runtime.clock import ManualClock
from lakeward.tiering.round.round import RoundReport
from lakeward.tiering.watch import service_metrics
from lakeward.tiering.watch.lag import Lag
from lakeward.tiering.watch.service_metrics import MetricsPage, ServiceMetrics

PATH = TablePath("shop", "orders")
HELD = TieringRound(7, PATH, 0, 1)


class Cluster:
    """Has every table."""

    def table(self, name: str) -> str:
        """As a connection does."""
        return name


@pytest.fixture
def metrics(monkeypatch: pytest.MonkeyPatch) -> ServiceMetrics:
    """Of a table that is twelve rows behind."""
    monkeypatch.setattr(service_metrics, "lag_of", lambda *_: Lag(12, 3.5, 1))
    conn: Any = Cluster()
    return ServiceMetrics(conn, ManualClock())


@pytest.fixture
def page(metrics: ServiceMetrics) -> Iterator[MetricsPage]:
    """Its page, on a free port."""
    opened = MetricsPage(metrics, 0, "localhost")
    yield opened
    opened.close()


def values(text: str) -> dict[str, float]:
    """Metrics by name and labels, without the prefix."""
    return {k: float(v) for k, v in re.findall(r"^lakeward_tiering_(\S+) (\S+)$", text, re.MULTILINE)}


def test_rounds_are_counted_by_table_and_outcome(metrics: ServiceMetrics) -> None:
    """Rows, bytes, files and seconds add up."""
    why = ErrorCode.INVALID_TABLE.error("no")
    for _ in range(2):
        metrics.on_begin(HELD)
        metrics.on_end(HELD, RoundReport(PATH, 1, repaired=False, rows=10, file_bytes=100, files=2, seconds=0.5))
    metrics.on_begin(HELD)
    metrics.on_end(HELD, RoundReport(PATH, None, repaired=True))
    metrics.on_overtake(HELD, why)
    metrics.on_failure(HELD, why, 1.0)
    metrics.on_begin(HELD)
    table = 'table="shop.orders"'
    assert values(metrics.text()) == {
        f'rounds_total{{outcome="finished",{table}}}': 2,
        f'rounds_total{{outcome="repaired",{table}}}': 1,
        f'rounds_total{{outcome="overtaken",{table}}}': 1,
        f'rounds_total{{outcome="failed",{table}}}': 1,
        f"rows_total{{{table}}}": 20,
        f"bytes_total{{{table}}}": 200,
        f"files_total{{{table}}}": 4,
        f"seconds_total{{{table}}}": 1,
        "running": 1,
        f"lag_rows{{{table}}}": 12,
        f"lag_seconds{{{table}}}": 3.5,
    }


def test_the_page_is_for_prometheus(page: MetricsPage) -> None:
    """At /metrics, and nowhere else."""
    with urllib.request.urlopen(f"http://localhost:{page.port}/metrics", timeout=30) as answer:
        assert values(answer.read().decode())["running"] == 0
    with pytest.raises(urllib.error.HTTPError):
        urllib.request.urlopen(f"http://localhost:{page.port}/other", timeout=30)
