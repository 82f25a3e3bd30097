"""Figures of a pipeline."""

from __future__ import annotations

import json

from pipeline_events import BEFORE, LINES, definition_of

from lakeward.capture.port import Chunk
from lakeward.capture.progress import Progress
from lakeward.pipelines.plan import plan_tables
from lakeward.runtime.clock import SystemClock
from lakeward.spark.pipelines.run.pipeline_meter import PipelineMeter
from lakeward.spark.pipelines.write.report import Report


def test_phases_rows_and_lag_by_table() -> None:
    """A copy by its chunks, then the stream with its lag and what the database holds back."""
    meter = PipelineMeter(SystemClock())
    meter.expect(plan_tables(definition_of("type: print"), [BEFORE]))
    assert [(one.source, one.phase) for one in meter.tables()] == [("public.lines", "waiting")]
    begun = Progress().begin({"n": 1}, [BEFORE], 0, copies=True)
    copying = begun.begin_group([(BEFORE, [Chunk(0, None, (5,)), Chunk(1, (5,), None)])]).copy_chunks(1)
    meter.look({"sources": [{"endOffset": copying.to_json()}]})
    report = Report()
    report.count(str(LINES), 40, None)
    meter.take(report)
    [table] = meter.tables()
    assert (table.phase, table.rows, table.lag_ms) == ("snapshot 50 %", 40, None)
    assert table.rows_per_s > 0
    latest = {"lagMs": 7, "heldBytes": 99}
    end = json.dumps(copying.copy_chunks(1).to_json())
    meter.look({"sources": [{"endOffset": end, "latestOffset": latest}]})
    [table] = meter.tables()
    assert (table.phase, table.lag_ms, meter.held_bytes, meter.phase) == ("streaming", 7, 99, "streaming")
