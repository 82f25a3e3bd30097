"""Closed segments that are copied elsewhere, and what may go from here once they are."""

from __future__ import annotations

from pathlib import Path

from logs import append, contents, fill, open_log

from lakeward.storage.log.checkpoint import checkpoint_file
from lakeward.storage.log.retention import SegmentFacts, copied_prefix
from lakeward.storage.log.segment.log_index import LogIndex
from lakeward.storage.log.settings import LogSettings
from lakeward.storage.log.writer_state import WriterStates

SEGMENTS = [
    SegmentFacts(0, 100, 1000),
    SegmentFacts(10, 100, 2000),
    SegmentFacts(20, 100, 3000),
    SegmentFacts(30, 5, 4000),
]


def test_a_held_segment_outlives_the_segment(tmp_path: Path) -> None:
    """Its bytes are those of the moment it was held, though another file takes the segment's place."""
    log = open_log(tmp_path, segment_bytes_max=300)
    fill(log, 20)
    closed = log.closed_segments()[0]
    before = closed.path.read_bytes()
    held = log.hold(closed, "x")
    assert held is not None
    replacement = tmp_path / "other"
    replacement.write_bytes(before[: len(before) // 2])
    log.replace_segment(closed, replacement)
    assert held.path.read_bytes() == before
    held.release()
    assert not held.path.exists()


def test_indexes_made_anew_are_those_that_were_kept(tmp_path: Path) -> None:
    """After a restart index files are not trusted; what is made from the batches is the same."""
    log = open_log(tmp_path, segment_bytes_max=1500)
    fill(log, 60)
    held = log.hold(log.closed_segments()[0], "x")
    assert held is not None
    assert held.index is not None
    kept = held.index_files()
    log.close()
    log = open_log(tmp_path, segment_bytes_max=1500)
    again = log.hold(log.closed_segments()[0], "y")
    assert again is not None
    assert again.index is None
    assert again.index_files()[0] == kept[0]
    assert LogIndex.of_files(*again.index_files(), again.size_bytes) is not None


def test_writers_are_told_as_of_the_segments_end(tmp_path: Path) -> None:
    """From the checkpoint at its end, or worked out when there is none."""
    log = open_log(tmp_path, segment_bytes_max=130)
    for number in range(8):
        append(log, writer_id=7, sequence=number)
    first, second = log.closed_segments()[:2]
    held = log.hold(second, "x")
    assert held is not None
    told = held.writers()
    assert told is not None
    checkpoint_file(tmp_path, second.end_offset).unlink()
    worked_out = held.writers()
    assert worked_out is not None
    judged = [WriterStates.of_json(one).judge(7, second.end_offset) for one in (told, worked_out)]
    assert judged[0] == judged[1]
    checkpoint_file(tmp_path, first.end_offset).unlink()
    assert held.writers() is None


def test_links_that_a_crash_left_are_removed(tmp_path: Path) -> None:
    """Opening the log removes what nobody will ask for."""
    log = open_log(tmp_path, segment_bytes_max=300)
    fill(log, 20)
    held = log.hold(log.closed_segments()[0], "x")
    assert held is not None
    open_log(tmp_path, segment_bytes_max=300)
    assert not held.path.exists()


def test_only_what_was_copied_goes_and_some_segments_stay() -> None:
    """The newest segments stay, and so does everything that has not been copied or is needed."""
    keep_all = LogSettings(ttl_ms=-1, local_segments=2)
    assert copied_prefix(SEGMENTS, keep_all, 5000, 100, 30) == 2
    assert copied_prefix(SEGMENTS, keep_all, 5000, 100, 19) == 1
    assert copied_prefix(SEGMENTS, keep_all, 5000, 15, 30) == 1
    assert copied_prefix(SEGMENTS, keep_all, 5000, 100, -1) == 0
    assert copied_prefix(SEGMENTS, LogSettings(ttl_ms=-1, local_segments=1), 5000, 100, 30) == 3
    assert copied_prefix(SEGMENTS, LogSettings(ttl_ms=-1, local_segments=0), 5000, 100, 30) == 3


def test_what_is_old_goes_before_there_are_too_many() -> None:
    """A local time to live counts for copied segments; without one that of the table does."""
    assert copied_prefix(SEGMENTS, LogSettings(local_ttl_ms=2500, local_segments=10), 4000, 100, 30) == 1
    assert copied_prefix(SEGMENTS, LogSettings(ttl_ms=2500, local_segments=10), 4000, 100, 30) == 1
    assert copied_prefix(SEGMENTS, LogSettings(ttl_ms=2500, local_ttl_ms=0, local_segments=10), 4000, 100, 30) == 0


def test_a_copied_log_does_not_lose_what_was_not_copied(tmp_path: Path) -> None:
    """However old it is."""
    log = open_log(tmp_path, segment_bytes_max=300, ttl_ms=10, delete_delay_ms=0)
    fill(log, 20)
    log.copied_offset = log.closed_segments()[0].end_offset
    assert log.retain(10**6) == 1
    assert log.start_offset == log.copied_offset


def test_a_log_behind_its_copy_begins_again_at_the_copys_end(tmp_path: Path) -> None:
    """Offsets that exist elsewhere are never given twice, and writers go on where the copy knows them."""
    log = open_log(tmp_path / "log", segment_bytes_max=300)
    fill(log, 20)
    writers = WriterStates()
    (tmp_path / "log" / f"{500:020d}.writer_snapshot").write_bytes(writers.to_json())
    log.begin_at(500, 1000)
    assert (log.start_offset, log.end_offset, contents(log)) == (500, 500, [])
    assert append(log) == 500
    log.close()
    again = open_log(tmp_path / "log")
    assert (again.start_offset, again.end_offset) == (500, 501)
