"""Which server leads which bucket."""

from __future__ import annotations

from collections import Counter

import pytest

from lakeward.model.bucket import TableBucket
from lakeward.server.fleet.placement import server_of


@pytest.mark.parametrize("size", [1, 2, 3, 7])
@pytest.mark.parametrize("partition_id", [None, 5])
def test_the_buckets_of_a_table_go_round(size: int, partition_id: int | None) -> None:
    """Each server has as many as the others, give or take one."""
    counts = Counter(server_of(TableBucket(3, partition_id, bucket), size) for bucket in range(20))
    assert set(counts) == set(range(size))
    assert max(counts.values()) - min(counts.values()) <= 1


def test_tables_of_one_bucket_do_not_all_lie_on_one_server() -> None:
    """The next table, or partition, begins at the next server."""
    assert {server_of(TableBucket(table_id, None, 0), 3) for table_id in range(3)} == {0, 1, 2}
    assert {server_of(TableBucket(1, partition_id, 0), 3) for partition_id in range(3)} == {0, 1, 2}
