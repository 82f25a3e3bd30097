"""What queries have read, counted."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa
import pytest

from lakeward.lake.port import LakeFile
from lakeward.query.plan.splits import LakeSplit, Tier
from lakeward.query.read.query_metrics import QueryMetrics
from lakeward.runtime.clock import ManualClock


def batches(clock: ManualClock, *, fails: bool = False) -> Iterator[pa.RecordBatch]:
    """Two batches, each of which takes a second to come."""
    for values in ([1, 2], [3]):
        clock.advance(1000)
        yield pa.record_batch([pa.array(values, pa.int64())], ["id"])
    if fails:
        raise OSError("gone")


def test_rows_are_counted_as_they_pass() -> None:
    """Splits, rows, bytes and the seconds that reading took, by tier; the reader's own time is not in them."""
    clock = ManualClock()
    metrics = QueryMetrics(clock)
    for _ in metrics.read(Tier.HYBRID, batches(clock)):
        clock.advance(60_000)
    told = metrics.text().splitlines()
    assert 'lakeward_query_scans_total{tier="HYBRID"} 1' in told
    assert 'lakeward_query_rows_total{tier="HYBRID"} 3' in told
    assert 'lakeward_query_bytes_total{tier="HYBRID"} 24' in told
    assert 'lakeward_query_scan_seconds_sum{tier="HYBRID"} 2' in told


def test_a_read_that_ends_early_is_counted_too() -> None:
    """By a limit, or by an error, which passes through."""
    clock = ManualClock()
    metrics = QueryMetrics(clock)
    early = metrics.read(Tier.LOG_ONLY, batches(clock))
    next(early)
    early.close()  # type: ignore[attr-defined]
    with pytest.raises(OSError, match="gone"):
        list(metrics.read(Tier.LOG_ONLY, batches(clock, fails=True)))
    told = metrics.text().splitlines()
    assert 'lakeward_query_rows_total{tier="LOG_ONLY"} 5' in told
    assert 'lakeward_query_scan_seconds_count{tier="LOG_ONLY"} 2' in told


def test_files_that_the_engine_scans_itself_count_by_what_they_hold() -> None:
    """Nothing passes through our hands then."""
    metrics = QueryMetrics(ManualClock())
    metrics.count_files(LakeSplit(None, 0, "iceberg", 1, (LakeFile("f", 10, 900, ()),)))
    told = metrics.text().splitlines()
    assert 'lakeward_query_scans_total{tier="LAKE_ONLY"} 1' in told
    assert 'lakeward_query_rows_total{tier="LAKE_ONLY"} 10' in told
    assert 'lakeward_query_bytes_total{tier="LAKE_ONLY"} 900' in told


def test_queries_are_timed_and_failures_counted() -> None:
    """A failed query took its time too."""
    clock = ManualClock()
    metrics = QueryMetrics(clock)
    with metrics.query():
        clock.advance(300)
    with pytest.raises(OSError, match="no"), metrics.query():
        raise OSError("no")
    told = metrics.text().splitlines()
    assert "lakeward_query_failures_total 1" in told
    assert 'lakeward_query_seconds_bucket{le="0.25"} 1' in told
    assert 'lakeward_query_seconds_bucket{le="0.5"} 2' in told
