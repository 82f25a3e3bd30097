"""Files of a remote segment that a real Apache Fluss wrote, read by us."""

from __future__ import annotations

from pathlib import Path

from lakeward.storage.log.segment.log_index import LogIndex
from lakeward.storage.log.writer_state import Verdict, WriterStates

DATA = Path(__file__).parents[4] / "data" / "remote-log"
SEGMENT_BYTES = 1_013_616


def test_recorded_indexes_are_read_and_written_the_same() -> None:
    """Nine batches of a thousand rows: every batch but the first has an entry."""
    offsets, times = ((DATA / f"{0:020d}{suffix}").read_bytes() for suffix in (".index", ".timeindex"))
    index = LogIndex.of_files(offsets, times, SEGMENT_BYTES)
    assert index is not None
    assert (index.offset_bytes(), index.time_bytes()) == (offsets, times)
    assert index.position_before(999) == 0
    assert index.position_before(1999) == 112_624
    assert index.position_before(8999) == 900_992
    assert index.time_before(1 << 62)[1] == 8000


def test_recorded_writers_go_on_where_they_were() -> None:
    """The writer's next batch is its ninth; its last one is recognised."""
    writers = WriterStates.of_json((DATA / f"{9000:020d}.writer_snapshot").read_bytes())
    assert writers.judge(3, 9)[0] is Verdict.NEXT
    verdict, batch = writers.judge(3, 8)
    assert verdict is Verdict.DUPLICATE
    assert batch is not None
    assert (batch.base_offset, batch.last_offset) == (8000, 8999)
