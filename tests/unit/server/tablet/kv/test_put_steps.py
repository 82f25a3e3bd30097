"""One put in steps: what counts as long, and what becomes of a bucket that is dropped in between."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from kv_tablets import TabletUnderTest

from lakeward.errors import ErrorCode, LakewardError
from lakeward.model.bucket import TableBucket
from lakeward.model.schema import Schema
from lakeward.model.type_text import parse_columns
from lakeward.records.batch.kv_batch import build_kv_batch, kv_record_count, parse_kv_batch
from lakeward.records.kernels.spans import Spans
from lakeward.records.row import compacted_row
from lakeward.server.tablet.kv.put_steps import PutSteps, is_long
from lakeward.server.tablet.requests.flow import run_here

BUCKET = TableBucket(1, None, 0)
COLUMNS, _ = parse_columns("id INT NOT NULL, name STRING")


class States:
    """Knows whether the bucket is there."""

    def __init__(self) -> None:
        self.is_there = True

    def check(self, bucket: TableBucket) -> None:
        """Refuse a bucket that was dropped."""
        if not self.is_there:
            raise ErrorCode.TABLE_NOT_EXIST.error(f"{bucket} has gone.")


def _batch(*ids: int) -> bytearray:
    codec = compacted_row.codec(tuple(column.type for column in Schema.of(COLUMNS, ("id",)).columns))
    rows = Spans.of([bytes(codec.encode((i, "a"))) for i in ids])
    return build_kv_batch(1, Spans.of([bytes([i]) for i in ids]), rows)


def _steps(states: States) -> PutSteps:
    made: Any = states
    return PutSteps(made, lambda: 5)


@pytest.fixture
def tablet(tmp_path: Path) -> TabletUnderTest:
    """A table of two columns."""
    return TabletUnderTest(tmp_path, Schema.of(COLUMNS, ("id",)), {})


def test_a_put_is_kept_when_its_log_has_it(tablet: TabletUnderTest) -> None:
    """State and log have the rows when the steps are done."""
    batch = parse_kv_batch(_batch(1, 2, 3))
    assert run_here(_steps(States()).put(BUCKET, tablet.kv, batch, ())) == 3
    assert (tablet.kv.row_count, tablet.kv.log.end_offset) == (3, 3)
    tablet.stop()


def test_a_bucket_that_was_dropped_meanwhile_keeps_nothing(tablet: TabletUnderTest) -> None:
    """The rows are taken out of the state again, and nothing is written to a log that has gone."""
    states = States()
    flow = _steps(states).put(BUCKET, tablet.kv, parse_kv_batch(_batch(1, 2)), ())
    prepared = next(flow)()
    assert (tablet.kv.row_count, tablet.kv.log.end_offset) == (2, 0)
    states.is_there = False
    with pytest.raises(LakewardError, match="has gone"):
        flow.send(prepared)
    assert (tablet.kv.row_count, tablet.kv.log.end_offset) == (0, 0)
    tablet.stop()


def test_a_log_that_fails_takes_the_rows_back(tablet: TabletUnderTest, monkeypatch: pytest.MonkeyPatch) -> None:
    """The state is what the log says, even after a write that could not be logged."""

    def fail(*_: object) -> None:
        raise ErrorCode.LOG_STORAGE.error("no space")

    monkeypatch.setattr(tablet.kv.log, "append", fail)
    with pytest.raises(LakewardError, match="no space"):
        run_here(_steps(States()).put(BUCKET, tablet.kv, parse_kv_batch(_batch(1)), ()))
    assert tablet.kv.row_count == 0
    tablet.stop()


def test_what_is_long(tablet: TabletUnderTest) -> None:
    """Many rows, many bytes, or some hundred rows that are decided one by one."""
    assert not is_long(tablet.kv, 4000, 100_000, ())
    assert is_long(tablet.kv, 5000, 100_000, ())
    assert is_long(tablet.kv, 10, 1 << 20, ())
    assert is_long(tablet.kv, 200, 4000, (0, 1))
    assert not is_long(tablet.kv, 100, 4000, (0, 1))
    tablet.stop()


def test_rows_are_counted_without_a_look_at_them() -> None:
    """A count that the bytes could not hold is no reason to believe it."""
    batch = _batch(1, 2, 3)
    assert kv_record_count(batch) == 3
    assert kv_record_count(b"") == 0
    batch[24:28] = (1 << 30).to_bytes(4, "little")
    assert kv_record_count(batch) < 20
