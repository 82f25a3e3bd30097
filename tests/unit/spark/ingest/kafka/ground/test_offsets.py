"""Offsets: what a micro-batch reads, what is gone, and what people write."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakeward.errors import LakewardError
from lakeward.spark.ingest.kafka.ground.offsets import (
    Offsets,
    Range,
    advance,
    begin_of,
    limit_rows,
    losses,
    parse_places,
    ranges,
)

PLACES = st.dictionaries(
    st.tuples(st.sampled_from(["a", "b.c"]), st.integers(0, 5)), st.tuples(st.integers(0, 1000), st.integers(0, 1000))
)


def test_they_are_readable_as_spark_s_own() -> None:
    """Topic, partition, offset; ids and the end of a bounded stream beside them."""
    offsets = Offsets({("t", 10): 5, ("t", 2): 7}, {"t": "id"}, {("t", 2): 9})
    form = {"t": {"2": 7, "10": 5}, "@ids": {"t": "id"}, "@until": {"t": {"2": 9}}}
    assert offsets.to_json() == form
    assert Offsets.of_json(form) == offsets
    assert not offsets.is_finished
    assert Offsets({("t", 2): 9}, until={("t", 2): 9}).is_finished


@given(PLACES, st.integers(1, 500))
def test_a_limit_leaves_rows_for_later(places: dict[tuple[str, int], tuple[int, int]], rows: int) -> None:
    """No more than asked, never beyond the end, and as many as there are where they fit."""
    begin = {part: first for part, (first, _) in places.items()}
    end = {part: first + more for part, (first, more) in places.items()}
    limited = limit_rows(begin, end, rows)
    assert all(begin[part] <= limited[part] <= end[part] for part in end)
    total = sum(end.values()) - sum(begin.values())
    assert sum(limited.values()) - sum(begin.values()) == min(rows, total)


@given(PLACES, st.integers(1, 300))
def test_ranges_cover_every_offset_once(places: dict[tuple[str, int], tuple[int, int]], split: int) -> None:
    """And none is larger than a task may have."""
    begin = {part: first for part, (first, _) in places.items()}
    end = {part: first + more for part, (first, more) in places.items()}
    found = ranges(begin, end, split)
    assert all(0 < part.end - part.begin <= split for part in found)
    offsets = [(part.topic, part.partition, offset) for part in found for offset in range(part.begin, part.end)]
    assert sorted(offsets) == sorted((*part, offset) for part in end for offset in range(begin[part], end[part]))


def test_what_is_gone_is_told() -> None:
    """Deleted rows, a shorter log, a partition without a topic, and a topic that was made again."""
    start = Offsets({("t", 0): 5, ("t", 1): 50, ("u", 0): 1, ("v", 0): 3}, {"v": "old"})
    now = Offsets({("t", 0): 20, ("t", 1): 40, ("v", 0): 9}, {"v": "new"})
    found = losses(start, now, {("t", 0): 8})
    assert found[0] == "topic 'v' was deleted and made again"
    assert "offsets 5 to 7 were deleted" in found[1]
    assert "ends at offset 40, and the stream is at 50" in found[2]
    assert found[3] == "partition 0 of topic 'u' is no longer there"
    assert losses(start, start, {}) == []


def test_where_a_micro_batch_begins() -> None:
    """New partitions at their beginning, others where they were, and what was cut or renewed with what there is."""
    start = Offsets({("t", 0): 5, ("t", 1): 6, ("u", 0): 9, ("w", 0): 90}, {"u": "old"})
    end = Offsets({("t", 0): 20, ("t", 1): 20, ("t", 2): 20, ("u", 0): 20, ("w", 0): 30}, {"u": "new"})
    earliest = {("t", 1): 10, ("t", 2): 3, ("u", 0): 1, ("w", 0): 2}
    assert begin_of(start, end, earliest) == {
        ("t", 0): 5,
        ("t", 1): 10,
        ("t", 2): 3,
        ("u", 0): 1,
        ("w", 0): 2,
    }


def test_ids_are_kept_while_brokers_do_not_tell() -> None:
    """A checkpoint never forgets which topic it is of, until the topic is no longer read."""
    begun = Offsets({("t", 0): 1, ("u", 0): 1}, {"t": "a", "u": "b"})
    assert advance(begun, {("t", 0): 2}, {}).ids == {"t": "a"}


def test_offsets_as_people_write_them() -> None:
    """Flink's form for one topic, JSON for several; the rest is refused with both forms."""
    assert parse_places("partition:0,offset:42;partition:1,offset:300", ["t"], "k") == {("t", 0): 42, ("t", 1): 300}
    assert parse_places("topic:u,partition:0,offset:1", ["t", "u"], "k") == {("u", 0): 1}
    assert parse_places('{"t": {"3": 4}}', [], "k") == {("t", 3): 4}
    for wrong in ("partition:0", "0:42", '{"t": 5}', "partition:x,offset:1"):
        with pytest.raises(LakewardError, match="partition:0,offset:42"):
            parse_places(wrong, ["t"], "k")
    with pytest.raises(LakewardError, match="several topics"):
        parse_places("partition:0,offset:1", ["t", "u"], "k")


def test_a_range_is_plain() -> None:
    """It travels to a task."""
    assert ranges({("t", 0): 0}, {("t", 0): 3}, 2) == [Range("t", 0, 0, 1), Range("t", 0, 1, 3)]
