"""The document of offsets, as Apache Fluss writes it."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakeward.errors import ErrorCode, LakewardError
from lakeward.lake.offsets_document import offsets_of_json, offsets_to_json
from lakeward.model.bucket import TableBucket


def test_a_table_without_partitions_lists_its_buckets() -> None:
    """A bucket of which nothing is known is −1, and does not come back."""
    offsets = {TableBucket(7, None, 0): 100, TableBucket(7, None, 2): 300}
    text = offsets_to_json(7, offsets)
    assert text == '{"version":1,"table_id":7,"bucket_offsets":[100,-1,300]}'
    assert offsets_of_json(text) == offsets


def test_partitions_are_sorted() -> None:
    """Two services write the same document for the same offsets."""
    offsets = {TableBucket(7, 9, 0): 1, TableBucket(7, 3, 1): 2}
    text = offsets_to_json(7, offsets)
    assert json.loads(text)["partition_offsets"] == [
        {"partition_id": 3, "bucket_offsets": [-1, 2]},
        {"partition_id": 9, "bucket_offsets": [1]},
    ]
    assert offsets_of_json(text) == offsets


@given(st.dictionaries(st.tuples(st.integers(1, 5), st.integers(0, 20)), st.integers(0, 2**62)))
def test_what_is_written_is_read(found: dict[tuple[int, int], int]) -> None:
    """Any offsets of any partitions."""
    offsets = {TableBucket(3, partition, number): offset for (partition, number), offset in found.items()}
    assert offsets_of_json(offsets_to_json(3, offsets).encode()) == offsets


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        '{"version":2,"table_id":1}',
        '{"version":1}',
        '{"version":1,"table_id":1,"bucket_offsets":["x"]}',
    ],
)
def test_what_is_no_document_is_refused(text: str) -> None:
    """Offsets are never guessed."""
    with pytest.raises(LakewardError, match="no document of lake offsets") as wrong:
        offsets_of_json(text)
    assert wrong.value.code is ErrorCode.CORRUPT_RECORD
