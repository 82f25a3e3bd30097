"""What pipelines count, for Prometheus."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lakeward.pipelines.status import PipelineState
from lakeward.telemetry.metrics import Metrics
from lakeward.telemetry.rows import services as metric_rows

if TYPE_CHECKING:
    from lakeward.spark.pipelines.run.pipelines import Pipelines


class PipelineMetrics:
    """Made anew whenever somebody looks."""

    def __init__(self, pipelines: Pipelines) -> None:
        self._pipelines = pipelines

    def text(self) -> str:
        """Everything in Prometheus' text format."""
        metrics = Metrics()
        rows = metrics.counter(metric_rows.PIPELINE_WRITTEN)
        restarts = metrics.counter(metric_rows.PIPELINE_RESTARTS)
        up = metrics.gauge(metric_rows.PIPELINE_UP)
        lag = metrics.gauge(metric_rows.PIPELINE_LAG)
        held = metrics.gauge(metric_rows.PIPELINE_HELD)
        for run in self._pipelines.runs:
            status = run.status
            own = (status.name,)
            up.set(int(status.state is PipelineState.RUNNING), own)
            restarts.add(status.restarts, own)
            if status.lag_ms is not None:
                lag.set(status.lag_ms / 1000, own)
            if status.held_bytes is not None:
                held.set(status.held_bytes, own)
            for table in status.tables:
                rows.add(table.rows, (*own, table.source))
        return metrics.text()
