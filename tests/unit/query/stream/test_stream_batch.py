"""What lies between two offsets of a stream."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from lakeward.client.forms.results import BucketId
from lakeward.query.stream.stream_batch import StreamBatch, halves
from lakeward.query.stream.stream_offset import Position, StreamOffset

B0, B1 = BucketId(None, 0), BucketId(None, 1)


def test_ranges_and_states_between_two_offsets() -> None:
    """A bucket that the start does not know begins with its first row; a state is read when the end has passed it."""
    start = StreamOffset(1, {B0: Position(5, is_state=True)})
    end = StreamOffset(1, {B0: Position(9), B1: Position(4)})
    batch = StreamBatch(start, end, {})
    assert batch.states == {B0: 5}
    assert batch.ranges == {B0: (5, 9), B1: (0, 4)}
    waiting = StreamBatch(start, StreamOffset(1, {B0: Position(5, is_state=True)}), {})
    assert (waiting.states, waiting.ranges) == ({}, {})


def test_a_partition_made_anew_is_another_one() -> None:
    """It begins with its first row, and what the lake has under its name is not its own."""
    bucket = BucketId("a", 0)
    start = StreamOffset(1, {bucket: Position(5)}, {"a": 1}, lake_ends={bucket: 8})
    end = StreamOffset(1, {bucket: Position(3)}, {"a": 2})
    batch = StreamBatch(start, end, {"a": 2})
    assert batch.ranges == {bucket: (0, 3)}
    assert batch.lake_ends == {}


def test_a_dropped_partition_is_lost_if_something_was_to_be_read() -> None:
    """Otherwise nothing happened."""
    bucket = BucketId("a", 0)
    start = StreamOffset(1, {bucket: Position(5)}, {"a": 1})
    end = StreamOffset(1, {bucket: Position(9)}, {"a": 1})
    assert StreamBatch(start, end, {}).lost == {bucket: (5, 9)}
    assert StreamBatch(end, end, {}).lost == {}


def test_partitions_that_only_the_lake_has_are_read_once() -> None:
    """When the end says that they are."""
    bucket = BucketId("old", 0)
    start = StreamOffset(1, {bucket: Position(7, is_state=True)})
    end = StreamOffset(1, {bucket: Position(7)})
    assert StreamBatch(start, end, {}).gone == [bucket]
    assert StreamBatch(start, start, {}).gone == []
    assert StreamBatch(end, end, {}).gone == []


@given(st.integers(0, 30), st.integers(0, 30), st.integers(0, 30))
def test_the_two_halves_are_the_whole(start: int, length: int, lake_end: int) -> None:
    """Every offset is in one of them, once, and the lake has only what lies before its end."""
    cold, hot = halves({B0: (start, start + length)}, {B0: lake_end})
    offsets = [o for half in (cold, hot) for a, b in half.values() for o in range(a, b)]
    assert offsets == list(range(start, start + length))
    assert all(b <= lake_end for _, b in cold.values())
