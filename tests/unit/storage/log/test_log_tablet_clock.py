"""Rows stamped far ahead, and the clock set right again: stamps, offsets by time and retention are true then."""

from __future__ import annotations

from pathlib import Path

import pytest
from logs import append, contents, fill, open_log

from lakeward.records.batch.log_batch import walk_batches
from lakeward.storage.log.log_tablet import LogTablet

_DAY_MS = 86_400_000
_NOW_MS = 1000 * _DAY_MS
_AHEAD_MS = _NOW_MS + 400 * _DAY_MS


def stamps(log: LogTablet) -> list[int]:
    """The time of every batch."""
    read, offset = [], log.start_offset
    while offset < log.end_offset:
        spans = list(walk_batches(log.read(offset, 1 << 20, at_least_one=True).data))
        read += [span.header.commit_timestamp_ms for span in spans]
        offset = spans[-1].header.last_offset + 1
    return read


@pytest.fixture
def log(tmp_path: Path) -> LogTablet:
    """Ten rows from before, three from when the clock was ahead, ten from after."""
    log = open_log(tmp_path, ttl_ms=7 * _DAY_MS, delete_delay_ms=0)
    fill(log, 10, rows=1, first_ms=_NOW_MS)
    fill(log, 3, rows=1, first_ms=_AHEAD_MS)
    fill(log, 10, rows=1, first_ms=_NOW_MS + 1000)
    return log


def test_later_rows_have_the_true_time(log: LogTablet, tmp_path: Path) -> None:
    """Before and after the log is opened again; nothing is lost, and one segment more is all it takes."""
    before = [_NOW_MS + 10 * i for i in range(10)]
    after = [_NOW_MS + 1000 + 10 * i for i in range(10)]
    assert stamps(log) == [*before, *(_AHEAD_MS + 10 * i for i in range(3)), *after]
    log.close()
    again = open_log(tmp_path)
    append(again, now_ms=_NOW_MS + 2000)
    assert stamps(again)[-11:] == [*after, _NOW_MS + 2000]
    assert len(contents(again)) == 24
    assert len(list(tmp_path.glob("*.log"))) == 2


@pytest.mark.parametrize("reopened", [False, True])
def test_offsets_by_time_are_right(log: LogTablet, tmp_path: Path, reopened: bool) -> None:
    """A time of after finds rows of after, a time of before those of before."""
    if reopened:
        log.close()
        log = open_log(tmp_path)
    assert log.offset_of_time(_NOW_MS) == 0
    assert log.offset_of_time(_NOW_MS + 45) == 5
    assert log.offset_of_time(_NOW_MS + 1020) == 15
    assert log.offset_of_time(_NOW_MS + 5000) == 23


def test_a_later_segment_is_found_by_its_time(log: LogTablet) -> None:
    """Once a segment of true times is closed, times behind it are found behind it."""
    log.roll(_NOW_MS + 2000)
    fill(log, 5, rows=1, first_ms=_NOW_MS + 3000)
    assert log.offset_of_time(_NOW_MS + 3010) == 24


def test_retention_is_not_held_up_for_400_days(log: LogTablet) -> None:
    """A segment stamped ahead goes by the time of the one behind it."""
    log.roll(_NOW_MS + 2000)
    append(log, now_ms=_NOW_MS + 20 * _DAY_MS)
    assert log.retain(_NOW_MS + 6 * _DAY_MS) == 0
    assert log.retain(_NOW_MS + 20 * _DAY_MS) == 2
    assert log.start_offset == 23
