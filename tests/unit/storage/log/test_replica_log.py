"""A copy of a log: the same bytes, the same writers; and its end may be taken back at any time."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from logs import append, contents, fill, open_log

from lakeward.errors import ErrorCode, LakewardError
from lakeward.storage.log.replica_log import ReplicaLog


def whole(log: ReplicaLog, offset: int = 0) -> bytes:
    """All bytes from an offset on."""
    pieces = b""
    while offset < log.end_offset:
        read = log.read(offset, 300, at_least_one=True)
        pieces, offset = pieces + bytes(read.data), read.end_offset
    return pieces


def test_a_copy_has_the_same_bytes_and_the_same_writers(tmp_path: Path) -> None:
    """Whatever the pieces, and however its segments are cut; a batch sent twice is known to the copy."""
    leader, copy = open_log(tmp_path / "a"), open_log(tmp_path / "b", segment_bytes_max=400)
    for number in range(12):
        append(leader, 3, now_ms=1000 + number, writer_id=7, sequence=number)
    while copy.end_offset < leader.end_offset:
        copy.append_copy(leader.read(copy.end_offset, 200, at_least_one=True).data)
    assert whole(copy) == whole(leader)
    assert copy.segment_count > 1
    assert copy.writers.to_json() == leader.writers.to_json()
    assert copy.time_ms_max == leader.time_ms_max


def test_what_does_not_follow_is_not_appended(tmp_path: Path) -> None:
    """A gap and a flipped bit are refused, and the log is as it was."""
    leader, copy = open_log(tmp_path / "a"), open_log(tmp_path / "b")
    fill(leader, 3)
    with pytest.raises(LakewardError) as refused:
        copy.append_copy(leader.read(2, 1000, at_least_one=True).data)
    assert refused.value.code is ErrorCode.CORRUPT_RECORD
    spoiled = bytearray(leader.read(0, 1000, at_least_one=True).data)
    spoiled[-1] ^= 1
    with pytest.raises(LakewardError):
        copy.append_copy(memoryview(spoiled))
    assert copy.end_offset == 0


def test_no_batch_is_split(tmp_path: Path) -> None:
    """A cut within a batch is refused."""
    log = open_log(tmp_path / "a")
    fill(log, 3)
    with pytest.raises(LakewardError):
        log.truncate(3, 0)
    assert log.end_offset == 6


@pytest.mark.parametrize("seed", range(20))
def test_a_log_whose_end_was_taken_back_is_as_if_it_had_never_been(tmp_path: Path, seed: int) -> None:
    """Cut anywhere, go on, cut again, opened anew in between: the rows, the writers and no damage."""
    chance = random.Random(seed)
    log = open_log(tmp_path / "a", segment_bytes_max=300)
    truth: list[tuple[int, bytes]] = []
    sequences: dict[int, int] = {}
    for step in range(30):
        what = chance.random()
        if what < 0.7:
            writer = chance.randrange(3)
            body = f"{step} {chance.random()}".encode()
            sequence = sequences.get(writer, -1) + 1
            base = append(log, 2, now_ms=1000 + step, body=body, writer_id=writer, sequence=sequence)
            sequences[writer] = sequence
            truth.append((base, body))
        elif what < 0.9 and truth:
            place = chance.randrange(len(truth))
            log.truncate(truth[place][0], 2000)
            del truth[place:]
            sequences = {w: b[-1].sequence for w, b in log.writers._writers.items()}
        elif what < 0.95:
            log.close()
            log = open_log(tmp_path / "a", segment_bytes_max=300)
        else:
            log = open_log(tmp_path / "a", segment_bytes_max=300)  # killed
        assert contents(log) == truth
        assert not log.damages
    log.close()
    again = open_log(tmp_path / "a", segment_bytes_max=300)
    assert contents(again) == truth
    assert again.writers.to_json() == log.writers.to_json()
