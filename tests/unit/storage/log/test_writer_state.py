"""Idempotence: which batches are next, seen before, early, or wrong."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakeward.storage.log.writer_state import REMEMBERED_BATCHES, Verdict, WriterStates, WrittenBatch

LAST = 2**31 - 1


def states_after(*sequences: int, writer_id: int = 1, time_ms: int = 0) -> WriterStates:
    """The state after batches of two rows with these numbers."""
    states = WriterStates()
    for place, sequence in enumerate(sequences):
        states.record(writer_id, WrittenBatch(sequence, 2 * place, 2 * place + 1, time_ms + place))
    return states


def test_a_new_writer_begins_at_zero() -> None:
    """Zero is next for a writer that was never seen; a later number waits for its predecessors."""
    assert WriterStates().judge(1, 0) == (Verdict.NEXT, None)
    assert WriterStates().judge(1, 3) == (Verdict.AHEAD, None)


def test_numbers_go_up_by_one() -> None:
    """The next number is taken, a later one waits."""
    states = states_after(0, 1, 2)
    assert states.judge(1, 3)[0] is Verdict.NEXT
    assert states.judge(1, 4)[0] is Verdict.AHEAD
    assert states.judge(2, 3)[0] is Verdict.AHEAD


def test_the_last_five_are_answered_from_memory() -> None:
    """A batch that is sent again gets the offsets of the first time; what is older than five is refused."""
    states = states_after(*range(9))
    for sequence in range(4, 9):
        assert states.judge(1, sequence) == (
            Verdict.DUPLICATE,
            WrittenBatch(sequence, 2 * sequence, 2 * sequence + 1, sequence),
        )
    assert states.judge(1, 3) == (Verdict.OUT_OF_ORDER, None)


def test_after_the_largest_number_comes_zero() -> None:
    """Sequence numbers wrap; around the wrap duplicates and early batches are still told apart."""
    states = states_after(LAST - 1, LAST)
    assert states.judge(1, 0)[0] is Verdict.NEXT
    assert states.judge(1, LAST)[0] is Verdict.DUPLICATE
    assert states.judge(1, 1)[0] is Verdict.AHEAD
    wrapped = states_after(LAST - 1, LAST, 0, 1)
    assert wrapped.judge(1, 2)[0] is Verdict.NEXT
    assert wrapped.judge(1, LAST)[0] is Verdict.DUPLICATE
    assert wrapped.judge(1, LAST - 3)[0] is Verdict.OUT_OF_ORDER
    assert states_after(LAST - 1).judge(1, 0)[0] is Verdict.AHEAD


def test_silent_writers_are_forgotten() -> None:
    """Only writers whose newest batch is older than the limit go."""
    states = states_after(0, 1, writer_id=1, time_ms=100)
    states.record(2, WrittenBatch(0, 9, 9, 500))
    states.expire(before_ms=102)
    assert states.judge(1, 1)[0] is Verdict.AHEAD
    assert states.judge(2, 0)[0] is Verdict.DUPLICATE
    assert len(states) == 1


@given(st.dictionaries(st.integers(0, 2**62), st.integers(1, 12), max_size=5))
def test_the_file_remembers_all_that_memory_did(counts: dict[int, int]) -> None:
    """A restart changes no verdict: duplicates of any of the last five batches are still known."""
    states = WriterStates()
    for writer_id, count in counts.items():
        for sequence in range(count):
            states.record(writer_id, WrittenBatch(sequence, 3 * sequence, 3 * sequence + 2, 1000 + sequence))
    again = WriterStates.of_json(states.to_json())
    for writer_id, count in counts.items():
        for sequence in range(count + 2):
            assert again.judge(writer_id, sequence) == states.judge(writer_id, sequence)
        known = [again.judge(writer_id, s)[0] for s in range(count)].count(Verdict.DUPLICATE)
        assert known == min(count, REMEMBERED_BATCHES)


def test_files_of_apache_fluss_are_read() -> None:
    """A snapshot that holds only the newest batch, under the name of its base offset, is understood."""
    entry = {
        "writer_id": 1001,
        "last_batch_sequence": 4,
        "last_batch_base_offset": 41,
        "offset_delta": 1,
        "last_batch_timestamp": 1700000000000,
    }
    states = WriterStates.of_json(json.dumps({"version": 1, "writer_id_entries": [entry]}).encode())
    assert states.judge(1001, 4) == (Verdict.DUPLICATE, WrittenBatch(4, 40, 41, 1700000000000))
    assert states.judge(1001, 5)[0] is Verdict.NEXT


def test_our_files_have_the_fields_of_apache_fluss() -> None:
    """Whoever reads Apache Fluss's snapshots reads ours: same names, same meaning."""
    document = json.loads(states_after(0, 1).to_json())
    (entry,) = document["writer_id_entries"]
    assert document["version"] == 1
    assert (
        entry.items()
        >= {
            "writer_id": 1,
            "last_batch_sequence": 1,
            "last_batch_base_offset": 3,
            "offset_delta": 1,
            "last_batch_timestamp": 1,
        }.items()
    )


@pytest.mark.parametrize(
    "text", ["", "{}", "[]", "{", '{"writer_id_entries":[{}]}', '{"writer_id_entries":[{"writer_id":"x"}]}']
)
def test_a_damaged_file_is_noticed(text: str, tmp_path: Path) -> None:
    """Anything but a snapshot raises; recovery then looks for an older one."""
    with pytest.raises((ValueError, KeyError, TypeError)):
        WriterStates.of_json(text.encode())


def test_who_wrote_longest_ago_is_forgotten_for_a_new_writer() -> None:
    """Not who came first: a writer at work stays, and one that is back must begin again instead of going on."""
    states = WriterStates()
    for time_ms, writer_id in enumerate([1, 2, 3, 1]):
        states.record(writer_id, WrittenBatch(time_ms, time_ms, time_ms, time_ms))
    assert states.make_room([1, 4, -1], 3, before_ms=1000)
    assert states.judge(2, 2) == (Verdict.AHEAD, None)
    assert states.judge(1, 4)[0] is Verdict.NEXT
    assert len(states) == 2


def test_who_wrote_a_moment_ago_is_kept() -> None:
    """Its batch may come a second time, and would be stored twice."""
    states = states_after(0, writer_id=1, time_ms=500)
    assert not states.make_room([2], 1, before_ms=500)
    assert states.judge(1, 0)[0] is Verdict.DUPLICATE
    assert states.make_room([1], 1, before_ms=500)
