"""What headers say of an interrupted append."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakeward.client.staged.commit.progress import rest_of, stored_batches
from lakeward.client.staged.parts.manifest import SEQUENCES, BucketAppend, StagedBatch
from lakeward.errors import LakewardError
from lakeward.records.batch.batch_header import BatchHeader

WRITER = 7


def _append(first: int, count: int) -> BucketAppend:
    return BucketAppend(None, None, 0, WRITER, first, 100, tuple(StagedBatch(0, i, 1, 1) for i in range(count)))


def _header(sequence: int, writer: int = WRITER) -> BatchHeader:
    return BatchHeader(0, 0, 0, 0, 0, 1, 0, 0, writer, sequence, 1)


@given(
    first=st.sampled_from([0, 5, SEQUENCES - 2, SEQUENCES - 1]),
    count=st.integers(1, 8),
    stored=st.integers(0, 8),
    strangers=st.lists(st.tuples(st.integers(0, 8), st.integers(-1, 20)), max_size=8),
)
def test_the_stored_batches_are_counted_among_those_of_others(
    first: int, count: int, stored: int, strangers: list[tuple[int, int]]
) -> None:
    """Sequences go on with 0 behind the last one; other writers may use the same numbers."""
    stored = min(stored, count)
    headers = [_header((first + i) % SEQUENCES) for i in range(stored)]
    for place, sequence in strangers:
        headers.insert(min(place, len(headers)), _header(sequence, writer=WRITER + 1))
    assert stored_batches(_append(first, count), headers) == stored
    left = rest_of(_append(first, count), stored)
    assert len(left.batches) == count - stored
    assert left.first_sequence == (first + stored) % SEQUENCES
    assert left.next_sequence == _append(first, count).next_sequence


def test_batches_of_commits_before_and_behind_do_not_count() -> None:
    """They have the same writer id, and other numbers."""
    assert stored_batches(_append(5, 3), [_header(4), _header(5), _header(6), _header(7), _header(8)]) == 3


@pytest.mark.parametrize("sequences", [[1], [0, 2], [0, 0], [1, 0]])
def test_batches_in_another_order_than_they_were_sent_are_an_alarm(sequences: list[int]) -> None:
    """Servers promise the order; if one does not keep it, nothing more must be appended."""
    with pytest.raises(LakewardError, match="Nothing more is appended"):
        stored_batches(_append(0, 3), [_header(s) for s in sequences])


def test_what_precedes_a_batch_that_is_seen_was_stored_too() -> None:
    """When retention has cut the beginning off."""
    assert stored_batches(_append(0, 9), [_header(4), _header(5)], from_start=False) == 6


def test_nothing_seen_behind_a_cut_is_an_error() -> None:
    """Then nobody can tell."""
    with pytest.raises(LakewardError, match="Retention has overtaken"):
        stored_batches(_append(0, 9), [_header(4, writer=1)], from_start=False)


def test_a_compacted_log_may_have_lost_the_names_of_writers() -> None:
    """A later batch proves the earlier ones; without any, the server is asked by sending."""
    assert stored_batches(_append(0, 9), [_header(-1, -1), _header(3)], compacted=True) == 4
    assert stored_batches(_append(0, 9), [_header(-1, -1)], compacted=True) == 0
