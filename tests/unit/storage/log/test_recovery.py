"""What is on disk → a log that can be appended to."""

from __future__ import annotations

from pathlib import Path

import pytest
from logs import append, contents, fill, open_log

from lakeward.storage.log.checkpoint import stored_checkpoints
from lakeward.storage.log.segment import file_stem
from lakeward.storage.log.writer_state import Verdict

BATCH = 59  # bytes of one batch that fill() makes


def logs_of(directory: Path) -> list[Path]:
    """The segments in a directory, in order."""
    return sorted(directory.glob("*.log"))


def test_an_empty_directory_is_an_empty_log(tmp_path: Path) -> None:
    """A server that was killed before the first row left only a directory."""
    assert open_log(tmp_path).end_offset == 0


def test_an_empty_segment_is_an_empty_log(tmp_path: Path) -> None:
    """A server that was killed between creating a file and writing to it left a file without rows."""
    (tmp_path / f"{file_stem(0)}.log").touch()
    log = open_log(tmp_path)
    assert (log.start_offset, log.end_offset) == (0, 0)
    assert append(log) == 0


@pytest.mark.parametrize("lost", [1, BATCH // 2, BATCH - 1, BATCH])
def test_a_torn_tail_is_cut_off(tmp_path: Path, lost: int) -> None:
    """A batch of which only a part was written is taken away, and the next append stands in its place."""
    log = open_log(tmp_path, checkpoints=False)
    fill(log, 10)
    wanted = contents(log)
    (path,) = logs_of(tmp_path)
    path.write_bytes(path.read_bytes()[:-lost])
    again = open_log(tmp_path)
    assert contents(again) == wanted[:9]
    assert again.end_offset == 18
    assert path.stat().st_size == 9 * BATCH
    assert bool(again.repairs) == (lost < BATCH)
    assert append(again, body=b"new") == 18
    assert contents(open_log(tmp_path))[-1] == (18, b"new")


@pytest.mark.parametrize("tail", [bytes(5), bytes(4096), b"\xff" * 100, b"GET / HTTP/1.1\r\n\r\n" * 9])
def test_anything_behind_the_last_batch_is_cut_off(tmp_path: Path, tail: bytes) -> None:
    """Zeros of a file system that crashed, or any other bytes, are not taken for rows."""
    log = open_log(tmp_path, checkpoints=False)
    fill(log, 3)
    (path,) = logs_of(tmp_path)
    with path.open("ab") as file:
        file.write(tail)
    again = open_log(tmp_path)
    assert contents(again) == contents(log)
    assert len(again.repairs) == 1
    assert str(path) in again.repairs[0]


@pytest.mark.parametrize("at", [0, 7, 8, 12, 21, 30, 50])
def test_the_log_ends_before_the_first_damaged_batch(tmp_path: Path, at: int) -> None:
    """Offset, length, version, checksum, header and rows: whatever is wrong, what stands before it is kept."""
    log = open_log(tmp_path, checkpoints=False)
    fill(log, 10)
    wanted = contents(log)
    (path,) = logs_of(tmp_path)
    data = bytearray(path.read_bytes())
    data[6 * BATCH + at] ^= 0x41
    path.write_bytes(data)
    again = open_log(tmp_path)
    assert contents(again) == wanted[:6]
    assert again.end_offset == 12


def test_what_stands_behind_a_cut_segment_is_put_aside(tmp_path: Path) -> None:
    """Rows must not be skipped: segments behind the damage leave the log, but not the disk."""
    log = open_log(tmp_path, checkpoints=False, segment_bytes_max=3 * BATCH)
    fill(log, 12)
    wanted = contents(log)
    paths = logs_of(tmp_path)
    data = bytearray(paths[1].read_bytes())
    data[BATCH + 50] ^= 1
    paths[1].write_bytes(data)
    again = open_log(tmp_path, segment_bytes_max=3 * BATCH)
    assert contents(again) == wanted[:4]
    assert sorted(p.name for p in tmp_path.glob("*.damaged")) == [p.name + ".damaged" for p in paths[2:]]
    assert len(again.repairs) == 3
    fill(again, 6)
    assert contents(open_log(tmp_path))[:4] == wanted[:4]
    assert open_log(tmp_path).end_offset == 20


def test_only_what_comes_behind_the_checkpoint_is_read_again(tmp_path: Path) -> None:
    """Damage below the checkpoint is not looked for: starting is quick however much is stored."""
    log = open_log(tmp_path)
    fill(log, 10)
    log.checkpoint()
    (path,) = logs_of(tmp_path)
    data = bytearray(path.read_bytes())
    data[4 * BATCH + 50] ^= 1
    path.write_bytes(data)
    again = open_log(tmp_path)
    assert (again.end_offset, again.repairs) == (20, [])


def test_a_checkpoint_ahead_of_its_log_is_not_believed(tmp_path: Path) -> None:
    """When the file is shorter than the checkpoint says, an older one or the beginning is where recovery starts."""
    log = open_log(tmp_path)
    fill(log, 10)
    log.checkpoint()
    (path,) = logs_of(tmp_path)
    path.write_bytes(path.read_bytes()[: 4 * BATCH])
    again = open_log(tmp_path)
    assert (again.end_offset, len(contents(again))) == (8, 4)
    assert append(again) == 8


def test_a_damaged_checkpoint_falls_back_to_the_one_before(tmp_path: Path) -> None:
    """Writers are known from the older checkpoint and the rows behind it."""
    log = open_log(tmp_path)
    for sequence in range(6):
        append(log, writer_id=3, sequence=sequence)
        log.checkpoint()
    (_, newest), (_, _) = stored_checkpoints(tmp_path)
    newest.write_bytes(b"{")
    for path in (None, *(p for _, p in stored_checkpoints(tmp_path))):
        if path is not None:
            path.write_bytes(b"")
        again = open_log(tmp_path)
        assert again.end_offset == 6
        for sequence, verdict in [(0, Verdict.OUT_OF_ORDER), (1, Verdict.DUPLICATE), (5, Verdict.DUPLICATE)]:
            assert again.writers.judge(3, sequence)[0] is verdict
        assert again.writers.judge(3, 6)[0] is Verdict.NEXT


def test_writers_survive_segments_that_retention_took(tmp_path: Path) -> None:
    """What a writer did last is known although its rows have expired."""
    log = open_log(tmp_path, segment_bytes_max=100, ttl_ms=50)
    append(log, writer_id=3, sequence=0, now_ms=0)
    for number in range(5):
        append(log, now_ms=1000 + number)
    log.retain(1040)
    log.close()
    again = open_log(tmp_path, segment_bytes_max=100, ttl_ms=50)
    assert again.start_offset == 1
    assert again.writers.judge(3, 0)[0] is Verdict.DUPLICATE


def test_half_written_small_files_are_swept_away(tmp_path: Path) -> None:
    """A crash while a checkpoint or an index was written leaves nothing behind."""
    log = open_log(tmp_path)
    fill(log, 3)
    for name in ("00000000000000000006.writer_snapshot.tmp", "00000000000000000000.index.tmp"):
        (tmp_path / name).write_bytes(b"half")
    assert open_log(tmp_path).end_offset == 6
    assert not list(tmp_path.glob("*.tmp"))


def test_indexes_are_rebuilt_when_they_are_gone(tmp_path: Path) -> None:
    """Every offset and time is found without index files."""
    log = open_log(tmp_path, segment_bytes_max=10 * BATCH)
    fill(log, 40, rows=1)
    log.close()
    for path in [*tmp_path.glob("*.index"), *tmp_path.glob("*.timeindex")]:
        path.unlink()
    again = open_log(tmp_path, segment_bytes_max=10 * BATCH)
    for number in range(40):
        assert contents(again, number, BATCH)[0][0] == number
        assert again.offset_of_time(1000 + 10 * number) == number


def test_a_segment_missing_below_the_checkpoint_leaves_a_hole(tmp_path: Path) -> None:
    """When somebody deleted a file from the middle, what is left on both sides of the hole can be read."""
    log = open_log(tmp_path, segment_bytes_max=3 * BATCH)
    fill(log, 12)
    log.close()
    logs_of(tmp_path)[1].unlink()
    again = open_log(tmp_path)
    assert [base for base, _ in contents(again)] == [0, 2, 4, 12, 14, 16, 18, 20, 22]
    assert again.end_offset == 24


def test_a_segment_missing_behind_the_checkpoint_ends_the_log(tmp_path: Path) -> None:
    """Rows that were never synced may have gone with their file; the log ends before them, so that none is skipped."""
    log = open_log(tmp_path, checkpoints=False, segment_bytes_max=3 * BATCH)
    fill(log, 12)
    logs_of(tmp_path)[1].unlink()
    again = open_log(tmp_path)
    assert [base for base, _ in contents(again)] == [0, 2, 4]
    assert (again.end_offset, len(list(tmp_path.glob("*.damaged")))) == (6, 2)
