"""Partition names."""

from __future__ import annotations

import pytest

from lakeward.errors import ErrorCode, LakewardError
from lakeward.model.table import TablePath
from lakeward.server.coordinator.partition import PartitionInfo, qualified, resolved_values

PATH = TablePath("db", "t")


def test_values_follow_the_order_of_the_keys() -> None:
    """Whatever the order they came in."""
    assert resolved_values(PATH, ["a", "b"], {"b": "2", "a": "1"}, reserved_allowed=False) == ("1", "2")


def test_a_name_comes_apart_again() -> None:
    """One value per key."""
    assert PartitionInfo(1, 2, "2024-01-15$EMEA", 0).values == ("2024-01-15", "EMEA")


def test_people_see_keys_and_values() -> None:
    """The qualified form is for messages."""
    assert qualified(["a", "b"], ["1", "2"]) == "a=1/b=2"


@pytest.mark.parametrize(("value", "allowed"), [("__historical__", True), ("__historical__", False), ("..", True)])
def test_reserved_and_bad_values(value: str, allowed: bool) -> None:
    """A reserved prefix passes only where it is allowed; a path never does."""
    if value != ".." and allowed:
        assert resolved_values(PATH, ["a"], {"a": value}, reserved_allowed=True) == (value,)
        return
    with pytest.raises(LakewardError) as refused:
        resolved_values(PATH, ["a"], {"a": value}, reserved_allowed=allowed)
    assert refused.value.code is ErrorCode.PARTITION_SPEC_INVALID
