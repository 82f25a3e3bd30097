"""What is on disk → a log that can be appended to."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from logs import append, contents, fill, open_log

from lakeward.errors import CorruptError
from lakeward.records.batch.log_batch import walk_batches
from lakeward.runtime.files.local_files import LocalFiles
from lakeward.storage.log.checkpoint import stored_checkpoints
from lakeward.storage.log.log_facts import SEGMENT_OFFSETS_MAX, facts_file
from lakeward.storage.log.log_tablet import LogTablet
from lakeward.storage.log.segment.damage import Damage
from lakeward.storage.log.segment.segment import file_stem
from lakeward.storage.log.writer_state import Verdict

BATCH = 59  # bytes of one batch that fill() makes


def logs_of(directory: Path) -> list[Path]:
    """The segments in a directory, in order."""
    return sorted(directory.glob("*.log"))


def flip(path: Path, position: int) -> None:
    """Change a byte in the middle of a file."""
    data = bytearray(path.read_bytes())
    data[position] ^= 0x41
    path.write_bytes(data)


def pieces(log: LogTablet) -> list[tuple[int, object]]:
    """What a patient reader finds: batches, and ranges that are errors, behind which it goes on."""
    found: list[tuple[int, object]] = []
    offset = log.start_offset
    while offset < log.end_offset:
        try:
            read = log.read(offset, 2 * BATCH, at_least_one=True)
        except CorruptError as wrong:
            told = wrong.message
            damage = next(one for one in log.damages if one.first <= offset < one.end)
            assert damage.path.name in told
            assert f"{damage.first} {damage.end}" in told
            found.append((damage.first, damage.end))
            offset = damage.end
            continue
        for span in walk_batches(read.data):
            found.append((span.header.base_offset, bytes(read.data[span.start + span.header.header_bytes : span.end])))
            offset = span.header.last_offset + 1
    return found


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
def test_what_stands_on_both_sides_of_a_damaged_batch_is_served(tmp_path: Path, at: int) -> None:
    """Offset, length, version, checksum, header and rows: whatever is wrong, its offsets are an error, no others."""
    log = open_log(tmp_path, checkpoints=False)
    fill(log, 10)
    wanted = contents(log)
    flip(logs_of(tmp_path)[0], 6 * BATCH + at)
    again = open_log(tmp_path)
    assert [(one.first, one.end) for one in again.damages] == [(12, 14)]
    assert (again.end_offset, append(again, body=b"new")) == (20, 20)
    for opened in (again, open_log(tmp_path)):
        assert pieces(opened) == [*wanted[:6], (12, 14), *wanted[7:], (20, b"new")]


def test_segments_behind_a_damaged_one_are_served(tmp_path: Path) -> None:
    """Rows must not be skipped, and need not be lost: reading goes on behind the damage when it is asked to."""
    log = open_log(tmp_path, checkpoints=False, segment_bytes_max=3 * BATCH)
    fill(log, 12)
    wanted = contents(log)
    flip(logs_of(tmp_path)[1], BATCH + 50)
    again = open_log(tmp_path, segment_bytes_max=3 * BATCH)
    assert pieces(again) == [*wanted[:4], (8, 10), *wanted[5:]]
    fill(again, 6)
    assert pieces(open_log(tmp_path))[:12] == [*wanted[:4], (8, 10), *wanted[5:]]
    assert open_log(tmp_path).end_offset == 36


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


@pytest.mark.parametrize("left", [0, 10, BATCH, 4 * BATCH, 4 * BATCH + 7])
def test_offsets_below_the_checkpoint_are_never_given_again(tmp_path: Path, left: int) -> None:
    """When the file is shorter than the checkpoint says, what is missing is damage, and the log goes on after it."""
    log = open_log(tmp_path)
    fill(log, 10)
    wanted = contents(log)
    log.checkpoint()
    (path,) = logs_of(tmp_path)
    path.write_bytes(path.read_bytes()[:left])
    again = open_log(tmp_path)
    whole = left // BATCH
    unused = 20 + SEGMENT_OFFSETS_MAX  # nobody knows what was written after the checkpoint
    assert append(again, body=b"new") == unused
    for opened in (again, open_log(tmp_path)):
        assert pieces(opened) == [*wanted[:whole], (2 * whole, unused), (unused, b"new")]


def test_a_deleted_newest_segment_is_missed(tmp_path: Path) -> None:
    """The checkpoint remembers how far the log had come."""
    log = open_log(tmp_path, segment_bytes_max=3 * BATCH)
    fill(log, 12)
    wanted = contents(log)
    log.close()
    logs_of(tmp_path)[-1].unlink()
    again = open_log(tmp_path, segment_bytes_max=3 * BATCH)
    assert pieces(again) == [*wanted[:9], (18, 24)]
    assert "00000000000000000018.log" in str(next(iter(again.damages)).path)
    assert append(again) == 24


def test_a_log_whose_files_are_all_gone_is_missed(tmp_path: Path) -> None:
    """What stands beside the directory knows how far it had come."""
    log = open_log(tmp_path / "log-0", segment_bytes_max=3 * BATCH)
    fill(log, 12)
    log.close()
    shutil.rmtree(tmp_path / "log-0")
    again = open_log(tmp_path / "log-0")
    assert pieces(again) == [(0, 24)]
    assert append(again) == 24


def test_a_deleted_oldest_segment_is_missed_and_an_expired_one_is_not(tmp_path: Path) -> None:
    """Where a log begins is written down when rows leave it on purpose."""
    log = open_log(tmp_path, segment_bytes_max=3 * BATCH, ttl_ms=50)
    fill(log, 12)
    wanted = contents(log)
    log.retain(1000 + 50 + 21)
    log.close()
    again = open_log(tmp_path, segment_bytes_max=3 * BATCH, ttl_ms=50)
    assert (again.start_offset, pieces(again)) == (6, wanted[3:])
    again.close()
    logs_of(tmp_path)[0].unlink()
    third = open_log(tmp_path, segment_bytes_max=3 * BATCH, ttl_ms=50)
    assert (third.start_offset, pieces(third)) == (6, [(6, 12), *wanted[6:]])


def test_what_others_know_of_the_end_is_believed(tmp_path: Path) -> None:
    """A snapshot, a remote copy or a lake that has rows up to an offset proves that they were written."""
    log = open_log(tmp_path)
    fill(log, 3)
    wanted = contents(log)
    again = open_log(tmp_path, known_end=10)
    unused = 10 + SEGMENT_OFFSETS_MAX
    assert pieces(again) == [*wanted, (6, unused)]
    assert append(again) == unused


def test_damage_under_a_log_in_use_is_found_when_it_is_read(tmp_path: Path) -> None:
    """A flipped bit and a file that was cut or deleted while it was open are errors for their offsets only."""
    told: list[Damage] = []
    log = open_log(tmp_path, on_damage=told.append, segment_bytes_max=3 * BATCH)
    fill(log, 12)
    wanted = contents(log)
    first, second, third, fourth = logs_of(tmp_path)
    flip(first, 8)
    second.write_bytes(second.read_bytes()[: BATCH + 9])
    third.unlink()
    fourth.write_bytes(b"")
    log._files.close()
    assert pieces(log) == [(0, 2), *wanted[1:4], (8, 12), (12, 18), (18, 24)]
    assert [(one.first, one.end) for one in told] == [(0, 2), (8, 12), (12, 18), (18, 24)]
    assert append(log, body=b"new") == 24
    assert pieces(log)[-1] == (24, b"new")
    assert pieces(open_log(tmp_path))[-1] == (24, b"new")


def test_a_damaged_checkpoint_falls_back_to_the_one_before(tmp_path: Path) -> None:
    """Writers are known from the older checkpoint and the rows after it."""
    log = open_log(tmp_path)
    for sequence in range(6):
        append(log, writer_id=3, sequence=sequence)
        log.checkpoint()
    (_, newest), (_, _) = stored_checkpoints(LocalFiles(), tmp_path)
    newest.write_bytes(b"{")
    for path in (None, *(p for _, p in stored_checkpoints(LocalFiles(), tmp_path))):
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


@pytest.mark.parametrize("checkpoints", [True, False])
def test_a_missing_segment_in_the_middle_is_told(tmp_path: Path, checkpoints: bool) -> None:
    """When somebody deleted a file, what is left on both sides of the hole can be read, and the hole is an error."""
    log = open_log(tmp_path, segment_bytes_max=3 * BATCH, checkpoints=checkpoints)
    fill(log, 12)
    wanted = contents(log)
    logs_of(tmp_path)[1].unlink()
    again = open_log(tmp_path)
    assert pieces(again) == [*wanted[:3], (6, 12), *wanted[6:]]
    assert again.offset_of_time(1000 + 30) == 6, "who starts at a time within the hole must meet it"


@pytest.mark.parametrize("damage", [b"", b"{", None])
def test_facts_beside_a_log_may_be_damaged(tmp_path: Path, damage: bytes | None) -> None:
    """They are made again from the files; nothing that is there is lost."""
    log = open_log(tmp_path)
    fill(log, 3)
    log.close()
    facts = facts_file(tmp_path)
    if damage is None:
        damage = facts.read_bytes().replace(b'"start_offset": 0', b'"start_offset": 1')
    facts.write_bytes(damage)
    again = open_log(tmp_path)
    assert contents(again) == contents(log)
    assert len(again.repairs) == 1
    assert not open_log(tmp_path).repairs
