"""A reader that goes on where it ended: no place is looked for, and everything is checked as ever."""

from __future__ import annotations

from pathlib import Path

import pytest
from logs import append, fill, open_log

from lakeward.errors import CorruptError
from lakeward.records.batch.log_batch import walk_batches
from lakeward.storage.log.log_tablet import LogTablet
from lakeward.storage.log.segment.segment import Segment

_BATCH = 48 + 11  # as `fill` writes them


def bases(log: LogTablet, offset: int, bytes_max: int) -> list[int]:
    """The offsets of the batches of one read."""
    read = log.read(offset, bytes_max, at_least_one=True)
    return [span.header.base_offset for span in walk_batches(read.data)]


def test_who_goes_on_is_not_looked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Behind the end of a read the next one begins; what was appended meanwhile is there, too."""
    log = open_log(tmp_path)
    fill(log, 4, rows=1)
    assert bases(log, 0, 2 * _BATCH) == [0, 1]

    def nobody_looks(*_: object) -> None:
        raise AssertionError("a header was looked for")

    monkeypatch.setattr(Segment, "position_of", nobody_looks)
    assert bases(log, 2, 2 * _BATCH + 50) == [2, 3]
    append(log, 3, body=b"more")
    read = log.read(4, 1000, at_least_one=True)
    assert (read.first_offset, read.end_offset, read.reaches_end) == (4, 7, True)
    with pytest.raises(AssertionError):
        log.read(1, 1000, at_least_one=True)


@pytest.mark.parametrize("batch", [2, 3])
def test_damage_behind_the_last_read_is_found(tmp_path: Path, batch: int) -> None:
    """A byte that is changed between two reads, of the next batch or of a later one, is not served."""
    log = open_log(tmp_path)
    fill(log, 6, rows=1)
    assert bases(log, 0, 2 * _BATCH) == [0, 1]
    file = next(tmp_path.glob("*.log"))
    data = bytearray(file.read_bytes())
    data[batch * _BATCH + 50] ^= 1
    file.write_bytes(data)
    if batch > 2:
        assert bases(log, 2, 4 * _BATCH) == [2]
    with pytest.raises(CorruptError):
        log.read(batch, 4 * _BATCH, at_least_one=True)
    assert bases(log, batch + 1, 4 * _BATCH) == list(range(batch + 1, 6))


def test_a_file_that_became_shorter_is_found(tmp_path: Path) -> None:
    """Rows that are gone from the end of the file are an error, not the end of the log."""
    log = open_log(tmp_path)
    fill(log, 4, rows=1)
    assert bases(log, 0, 2 * _BATCH) == [0, 1]
    with next(tmp_path.glob("*.log")).open("r+b") as file:
        file.truncate(3 * _BATCH + 20)
    assert bases(log, 2, 4 * _BATCH) == [2]
    with pytest.raises(CorruptError):
        log.read(3, 4 * _BATCH, at_least_one=True)


def test_a_batch_larger_than_the_read_still_comes(tmp_path: Path) -> None:
    """Whoever insists gets it whole, wherever the read before ended."""
    log = open_log(tmp_path)
    fill(log, 2, rows=1)
    append(log, 1, body=b"x" * 1000)
    append(log, 1)
    assert bases(log, 0, 2 * _BATCH) == [0, 1]
    assert log.read(2, 2 * _BATCH, at_least_one=False).data == b""
    assert bases(log, 2, 2 * _BATCH) == [2]
    assert bases(log, 3, 2 * _BATCH) == [3]
