"""Figures of a stream, from reports as Spark makes them."""

from __future__ import annotations

from typing import Any

import pytest

from lakeward.runtime.clock import ManualClock
from lakeward.spark.scripts.jobs.job_record import StreamProgress
from lakeward.spark.scripts.jobs.stream_meter import StreamMeter


def report(batch: int, rows: int, took_ms: int = 500, **more: Any) -> dict[str, Any]:
    """A report of a batch that wrote something."""
    took = {"addBatch": took_ms, "triggerExecution": took_ms}
    return {"batchId": batch, "timestamp": f"t{batch}", "numInputRows": rows, "durationMs": took, **more}


def behind(rows: int, ms: int) -> dict[str, Any]:
    """A source that tells how far it is behind."""
    return {"metrics": {"rowsBehind": str(rows), "lagMs": str(ms)}}


def test_rows_and_late_rows_add_up() -> None:
    """State is what there is now; rows, batches and late rows are those of all batches."""
    meter = StreamMeter(ManualClock())
    for batch, late in enumerate((0, 2, 1)):
        operators = [{"numRowsTotal": 10 + batch, "numRowsDroppedByWatermark": late}]
        meter.take(report(batch, 100, sources=[behind(5 - batch, 70)], stateOperators=operators))
    told = meter.progress
    assert (told.rows, told.batches, told.state_rows, told.late_rows) == (300, 3, 12, 3)
    assert (told.lag_rows, told.lag_ms) == (3, 70)


def test_rows_that_are_left_out_are_no_rows() -> None:
    """Spark counts them as read."""
    meter = StreamMeter(ManualClock())
    meter.take(report(0, 40, observedMetrics={"skipped shop.orders": {"skipped": 30, "_": 0}}))
    assert (meter.progress.rows, meter.progress.skipped_rows) == (10, 30)


def test_the_speed_is_that_of_the_last_seconds() -> None:
    """While batches run, and after them: it falls to nothing when no rows come."""
    clock = ManualClock()
    meter = StreamMeter(clock)
    for batch in range(20):
        clock.advance(1000)
        meter.take(report(batch, 100, took_ms=1000))
    assert meter.progress.rows_per_s == pytest.approx(100)
    clock.advance(5000)
    assert meter.progress.rows_per_s == pytest.approx(600 / 11, rel=0.2)
    clock.advance(6000)
    assert meter.progress.rows_per_s == 0


def test_a_batch_that_takes_long_counts_as_long() -> None:
    """A minute of work is not told as a burst of ten seconds."""
    clock = ManualClock()
    meter = StreamMeter(clock)
    clock.advance(60_000)
    meter.take(report(0, 6000, took_ms=60_000))
    assert meter.progress.rows_per_s == pytest.approx(100)
    clock.advance(30_000)
    assert meter.progress.rows_per_s == pytest.approx(6000 / 90)


def test_a_report_without_work_is_no_batch() -> None:
    """An idle stream reports now and then that it is idle."""
    meter = StreamMeter(ManualClock())
    meter.take(report(0, 5))
    meter.take({"batchId": 1, "timestamp": "t9", "numInputRows": 0, "durationMs": {"triggerExecution": 3}})
    assert meter.progress == StreamProgress(rows=5, rows_per_s=meter.progress.rows_per_s, batches=1)


def test_a_report_is_taken_once() -> None:
    """What was seen is not new; what comes after it is."""
    meter = StreamMeter(ManualClock())
    meter.take(report(3, 5))
    assert [meter.is_new(report(batch, 5)) for batch in (2, 3, 4)] == [False, False, True]


def test_a_lag_that_one_source_does_not_know_is_not_told() -> None:
    """Half of it would be a wrong number."""
    meter = StreamMeter(ManualClock())
    meter.take(report(0, 5, sources=[behind(7, 70), {"metrics": {}}]))
    assert meter.progress.lag_rows is None


def test_a_source_in_python_tells_its_lag_beside_its_latest_offset() -> None:
    """Spark has no metrics of it."""
    meter = StreamMeter(ManualClock())
    meter.take(report(0, 100, sources=[{"metrics": {}, "latestOffset": '{"at": 7, "lagMs": 1200}'}]))
    assert (meter.progress.lag_ms, meter.progress.lag_rows) == (1200, None)
