"""What a checkpoint holds."""

from __future__ import annotations

import json

import pytest

from lakeward.client.forms.results import BucketId
from lakeward.errors import LakewardError
from lakeward.query.stream.stream_offset import Position, StreamOffset

OFFSET = StreamOffset(
    7,
    {BucketId("b", 1): Position(5, is_state=True), BucketId("a", 10): Position(3), BucketId("a", 2): Position(4)},
    {"b": 2, "a": 1},
    99,
)


def test_the_text_is_stable_and_reads_back() -> None:
    """Engines compare texts: equal offsets have equal ones, whatever the order they were made in."""
    text = json.dumps(OFFSET.to_json())
    assert StreamOffset.of_json(json.loads(text)) == OFFSET
    turned = StreamOffset(7, dict(reversed(OFFSET.buckets.items())), {"a": 1, "b": 2}, 99)
    assert json.dumps(turned.to_json()) == text
    assert OFFSET.to_json()["buckets"] == {"a/2": 4, "a/10": 3, "b/1": {"state": 5}}


def test_the_first_batch_carries_its_beginning() -> None:
    """The beginning is part of the text, and the mark of an initial offset too."""
    first = StreamOffset(7, {BucketId(None, 0): Position(9)}, begin=OFFSET)
    assert StreamOffset.of_json(json.loads(json.dumps(first.to_json()))) == first
    initial = StreamOffset(7, {BucketId(None, 0): Position(0)}, is_initial=True)
    assert StreamOffset.of_json(json.loads(json.dumps(initial.to_json()))) == initial
    assert initial.to_json()["buckets"] == {"0": 0}


def test_how_far_the_lake_is_read_is_part_of_it() -> None:
    """As long as there is something left to read there; old checkpoints have nothing of the kind."""
    offset = StreamOffset(7, {BucketId(None, 1): Position(3)}, lake_ends={BucketId(None, 1): 8, BucketId(None, 0): 9})
    assert offset.to_json()["lake"] == {"0": 9, "1": 8}
    assert StreamOffset.of_json(json.loads(json.dumps(offset.to_json()))) == offset
    assert "lake" not in OFFSET.to_json()


def test_partitions_that_only_the_lake_has() -> None:
    """They have no id, and a group is not told of them."""
    offset = StreamOffset(7, {BucketId("old", 0): Position(5), BucketId("a", 0): Position(3)}, {"a": 1})
    assert offset.is_gone(BucketId("old", 0))
    assert not offset.is_gone(BucketId("a", 0))
    assert offset.next_offsets() == {BucketId("a", 0): 3}


def test_what_a_group_commits() -> None:
    """Only buckets whose state was read."""
    assert OFFSET.next_offsets() == {BucketId("a", 10): 3, BucketId("a", 2): 4}


@pytest.mark.parametrize("text", ["{}", "[]", '{"table_id": 1, "buckets": {"x": 1}}'])
def test_a_damaged_checkpoint_is_told(text: str) -> None:
    """Not a trace, a sentence."""
    with pytest.raises(LakewardError, match="offsets that cannot be read"):
        StreamOffset.of_json(json.loads(text))
