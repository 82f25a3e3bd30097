"""Recovery after any damage: whole batches are there, and what is not is told."""

from __future__ import annotations

import pytest
from examples import EXAMPLES
from hypothesis import given, settings
from hypothesis import strategies as st
from logs import append, contents, open_log
from raw_batches import raw_batch

from lakeward.errors import CorruptError
from lakeward.records.batch.log_batch import walk_batches
from lakeward.storage.log.log_tablet import LogTablet
from lakeward.storage.log.writer_state import Verdict

_STAMPED_TIME = range(13, 21)

log_shapes = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 120)), min_size=2, max_size=14)


def written(
    directory: object, shape: list[tuple[int, int]], checkpoint_at: int, segment_bytes: int
) -> tuple[list, list]:
    """Write batches with a checkpoint among them; returns the contents and where each batch lies (file, start, end)."""
    log = open_log(directory, checkpoints=False, segment_bytes_max=segment_bytes)
    places = []
    for number, (rows, size) in enumerate(shape):
        if number == checkpoint_at:
            log._checkpoints.ask_again()  # those of segments that were closed are lost
            log._checkpoint()()
        append(log, rows, body=bytes([number]) * size, writer_id=5, sequence=number, now_ms=1000 + number)
        segment = log._segments[-1]
        places.append((segment.path, segment.size - len(raw_batch(rows, b"x" * size)), segment.size))
    return contents(log), places


def reopened(directory: object, segment_bytes: int) -> LogTablet:
    """The log after a restart."""
    return open_log(directory, segment_bytes_max=segment_bytes)


def served(log: LogTablet) -> list[tuple[int, bytes]]:
    """Everything that can be read, as `contents` has it; ranges that are damaged are stepped over."""
    found, offset = [], log.start_offset
    while offset < log.end_offset:
        damage = log.damages.at(offset)
        if damage is not None:
            offset = damage.end
            continue
        try:
            read = log.read(offset, 1, at_least_one=True)
        except CorruptError:
            continue  # it is noted now
        found += [
            (span.header.base_offset, bytes(read.data[span.start + span.header.header_bytes : span.end]))
            for span in walk_batches(read.data)
        ]
        offset = log.offset_behind(read)
    return found


@settings(max_examples=2 * EXAMPLES)
@given(log_shapes, st.data())
def test_what_is_whole_is_served_and_the_rest_is_told(
    tmp_path_factory: pytest.TempPathFactory, shape: list[tuple[int, int]], data: st.DataObject
) -> None:
    """Flip, cut or overwrite bytes behind the checkpoint: what was written before is there, the rest too or told."""
    directory = tmp_path_factory.mktemp("log")
    segment_bytes = data.draw(st.sampled_from([150, 400, 10**6]))
    checkpoint_at = data.draw(st.integers(1, len(shape)))
    wanted, places = written(directory, shape, checkpoint_at, segment_bytes)
    victim = data.draw(st.integers(min(checkpoint_at, len(shape) - 1), len(shape) - 1))
    path, start, end = places[victim]
    content = bytearray(path.read_bytes())
    at = data.draw(st.integers(start, end - 1).filter(lambda place: place - start not in _STAMPED_TIME))
    match data.draw(st.sampled_from(["flip", "cut", "zeros", "noise"])):
        case "flip":
            content[at] ^= data.draw(st.integers(1, 255))
        case "cut":
            del content[at:]
        case "zeros":
            content[at:] = bytes(len(content) - at)
            content += bytes(data.draw(st.integers(1, 100)))
            start_of_zeros = path.read_bytes()[at:end]
            if not any(start_of_zeros):  # the batch already ended in zeros: it is whole, and what follows is not
                victim += 1
        case _:
            content[start:] = data.draw(st.binary(min_size=1, max_size=80))
    path.write_bytes(content)
    is_at_end = path == places[-1][0]
    log = reopened(directory, segment_bytes)
    ends = [sum(max(rows, 1) for rows, _ in shape[: number + 1]) for number in range(len(shape))]
    good = ends[victim - 1]
    assert served(log)[:victim] == wanted[:victim]
    assert [row for row in wanted if row in served(log)] == served(log), "nothing but what was written, in order"
    lost = [end - 1 for end, row in zip(ends, wanted, strict=True) if row not in served(log)]
    assert all(offset >= log.end_offset or log.damages.at(offset) is not None for offset in lost), "nothing silently"
    assert log.end_offset >= (good if is_at_end else ends[-1]), "later files prove that their offsets were used"
    if not log.damages and victim < len(shape):
        assert log.end_offset == good
        assert log.writers.judge(5, victim)[0] is Verdict.NEXT
    new = append(log, body=b"new")
    assert new >= log.end_offset - 1
    assert served(reopened(directory, segment_bytes)) == served(log)
    assert served(log)[-1] == (new, b"new")


@settings(max_examples=EXAMPLES)
@given(log_shapes, st.data())
def test_lost_and_damaged_small_files_lose_no_row(
    tmp_path_factory: pytest.TempPathFactory, shape: list[tuple[int, int]], data: st.DataObject
) -> None:
    """Indexes and checkpoints may be gone, cut or wrong: every row and every writer is known all the same."""
    directory = tmp_path_factory.mktemp("log")
    segment_bytes = data.draw(st.sampled_from([150, 400, 10**6]))
    wanted, _ = written(directory, shape, data.draw(st.integers(0, len(shape) - 1).filter(bool)), segment_bytes)
    log = reopened(directory, segment_bytes)
    log.close()
    for path in sorted(directory.iterdir()):
        if path.suffix == ".log":
            continue
        match data.draw(st.sampled_from(["keep", "lose", "cut", "flip"])):
            case "lose":
                path.unlink()
            case "cut":
                path.write_bytes(path.read_bytes()[: data.draw(st.integers(0, 20))])
            case "flip" if path.suffix != ".writer_snapshot" and path.stat().st_size:
                content = bytearray(path.read_bytes())
                content[data.draw(st.integers(0, len(content) - 1))] ^= data.draw(st.integers(1, 255))
                path.write_bytes(content)
            case _:
                pass
    again = reopened(directory, segment_bytes)
    assert contents(again) == wanted
    assert again.end_offset == log.end_offset
    for number in range(len(shape)):
        offset = sum(max(rows, 1) for rows, _ in shape[:number])
        assert again.offset_of_time(1000 + number) == offset
    assert again.writers.judge(5, len(shape))[0] is Verdict.NEXT
    assert again.writers.judge(5, len(shape) - 1)[0] is Verdict.DUPLICATE
    assert again.retain(1000 + len(shape)) == 0
