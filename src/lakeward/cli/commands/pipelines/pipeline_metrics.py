"""What pipelines count, for Prometheus."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lakeward.pipelines.status import PipelineState
from lakeward.runtime.metrics import Metrics

if TYPE_CHECKING:
    from lakeward.spark.pipelines.run.pipelines import Pipelines


class PipelineMetrics:
    """Made anew whenever somebody looks."""

    def __init__(self, pipelines: Pipelines) -> None:
        self._pipelines = pipelines

    def text(self) -> str:
        """Everything in Prometheus' text format."""
        metrics = Metrics()
        rows = metrics.counter("lakeward_pipeline_rows_total", "Rows written in this run, by table of the source.")
        restarts = metrics.counter("lakeward_pipeline_restarts_total", "Failures after which it was tried again.")
        up = metrics.gauge("lakeward_pipeline_up", "1 while the pipeline runs, 0 while it waits or has ended.")
        lag = metrics.gauge("lakeward_pipeline_lag_seconds", "How far the pipeline is behind its database.")
        held = metrics.gauge("lakeward_pipeline_held_bytes", "Log that the database keeps for this pipeline alone.")
        for run in self._pipelines.runs:
            status = run.status
            own = (("pipeline", status.name),)
            up.set(int(status.state is PipelineState.RUNNING), own)
            restarts.add(status.restarts, own)
            if status.lag_ms is not None:
                lag.set(status.lag_ms / 1000, own)
            if status.held_bytes is not None:
                held.set(status.held_bytes, own)
            for table in status.tables:
                rows.add(table.rows, (*own, ("table", table.source)))
        return metrics.text()
