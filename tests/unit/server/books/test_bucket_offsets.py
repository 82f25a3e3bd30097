"""The document of offsets, byte by byte as Apache Fluss writes it."""

from __future__ import annotations

import pytest

from lakeward.model.bucket import TableBucket
from lakeward.server.books.bucket_offsets import offsets_of_json, offsets_to_json

PLAIN = b'{"version":1,"table_id":4,"bucket_offsets":[100,-1,250]}'
PARTITIONED = (
    b'{"version":1,"table_id":5,"partition_offsets":[{"partition_id":7,"bucket_offsets":[10,20]},'
    b'{"partition_id":9,"bucket_offsets":[0]}]}'
)


def test_a_table_without_partitions() -> None:
    """The place in the array is the bucket; −1 stands for one of which nothing is known."""
    offsets = {TableBucket(4, None, 2): 250, TableBucket(4, None, 0): 100}
    assert offsets_to_json(4, offsets, partitioned=False) == PLAIN
    assert offsets_of_json(PLAIN, 4) == offsets


def test_a_partitioned_table() -> None:
    """One array per partition, never the plain one."""
    offsets = {TableBucket(5, 9, 0): 0, TableBucket(5, 7, 1): 20, TableBucket(5, 7, 0): 10}
    assert offsets_to_json(5, offsets, partitioned=True) == PARTITIONED
    assert offsets_of_json(PARTITIONED, 5) == offsets


def test_nothing_is_known() -> None:
    """A document all the same."""
    assert offsets_to_json(1, {}, partitioned=False) == b'{"version":1,"table_id":1,"bucket_offsets":[]}'
    assert offsets_of_json(offsets_to_json(1, {}, partitioned=True), 1) == {}


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"[]",
        b"{",
        b'{"version":2,"table_id":4,"bucket_offsets":[]}',
        b'{"version":1,"table_id":5,"bucket_offsets":[]}',
        b'{"version":1,"table_id":4,"partition_offsets":[1]}',
        b'{"version":1,"table_id":4,"bucket_offsets":[null]}',
        b'{"version":1,"table_id":4,"partition_offsets":[{"partition_id":1}]}',
        b"\xff\xfe",
    ],
)
def test_what_is_no_document_of_this_table(data: bytes) -> None:
    """Is refused, whatever is wrong with it."""
    with pytest.raises(ValueError, match=r"."):
        offsets_of_json(data, 4)
