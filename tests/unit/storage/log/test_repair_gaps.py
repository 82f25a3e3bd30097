"""Whoever copies or compacts a log meets an error at its gaps, and passes none."""

from __future__ import annotations

from pathlib import Path

import pytest
from logs import append, fill, open_log

from lakeward.errors import CorruptError
from lakeward.runtime.files.local_files import LocalFiles
from lakeward.storage.log.repair import give_up
from lakeward.storage.log.segment.damage import Damage
from lakeward.storage.log.verification import verify_log

BATCH = 59


def test_a_segment_that_rotted_is_not_copied(tmp_path: Path) -> None:
    """What is held to be copied is read first; the error names the segment and the range."""
    log = open_log(tmp_path, segment_bytes_max=3 * BATCH)
    fill(log, 12)
    closed = log.closed_segments()[1]
    data = bytearray(closed.path.read_bytes())
    data[BATCH + 50] ^= 1
    closed.path.write_bytes(data)
    held = log.hold(closed, "copy")
    assert held is not None
    with pytest.raises(CorruptError, match=f"Offsets 8 to 9 .*{closed.path.name}"):
        held.checked_columns()
    held.release()


def test_copies_stop_before_a_missing_segment_and_go_on_after_a_repair(tmp_path: Path) -> None:
    """Segments before the gap are offered, then it is an error; a batch without rows in its place ends that."""
    log = open_log(tmp_path / "log-0", segment_bytes_max=3 * BATCH)
    fill(log, 12)
    log.close()
    sorted((tmp_path / "log-0").glob("*.log"))[1].unlink()
    again = open_log(tmp_path / "log-0", segment_bytes_max=3 * BATCH)
    assert again.closed_segments() == []
    with pytest.raises(CorruptError, match="Offsets 6 to 11"):
        list(again.closed_behind(6))
    again.close()
    (damage,) = verify_log(LocalFiles(), tmp_path / "log-0").damages
    give_up(LocalFiles(), tmp_path / "log-0", damage, 1)
    third = open_log(tmp_path / "log-0", segment_bytes_max=3 * BATCH)
    assert [one.end_offset for one in third.closed_segments()] == [12, 18]
    assert [(one.first, one.end) for one in third.given_up] == [(6, 12)]
    assert append(third) == 24


def test_a_repair_is_remembered_when_the_log_goes_on(tmp_path: Path) -> None:
    """Checkpoints of later lives keep what was given up."""
    log = open_log(tmp_path / "log-0")
    fill(log, 4)
    log.close()
    give_up(LocalFiles(), tmp_path / "log-0", Damage(8, 12, tmp_path, "somebody knew better"), 1)
    for _ in range(2):
        again = open_log(tmp_path / "log-0")
        append(again)
        again.close()
    assert again.gave_up(9)
    assert not verify_log(LocalFiles(), tmp_path / "log-0").damages
