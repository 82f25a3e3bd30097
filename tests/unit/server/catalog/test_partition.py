"""A partition that exists."""

from __future__ import annotations

from lakeward.server.catalog.partition import PartitionInfo


def test_a_partition_knows_its_values_by_its_name() -> None:
    """The name is the values joined with `$`, in the order of the keys."""
    assert PartitionInfo(1, 7, "2024-03-15$eu", 0).values == ("2024-03-15", "eu")
