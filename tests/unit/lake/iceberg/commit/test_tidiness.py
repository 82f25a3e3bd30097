"""Which places are rewritten."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from lakeward.lake.iceberg.commit.live_files import LiveFiles
from lakeward.lake.iceberg.commit.tidiness import worst_places
from lakeward.lake.port import LakePlace


def files(small: int = 1, deletes: int = 0, large: int = 0) -> LiveFiles:
    """A place with so many files."""

    def of(size: int) -> Any:
        return SimpleNamespace(file_size_in_bytes=size)

    return LiveFiles([of(1000)] * small + [of(1 << 30)] * large, [of(10)] * deletes)


def test_a_tidy_place_is_left_alone() -> None:
    """A few deletes, a few small files and any number of large ones."""
    assert worst_places({LakePlace(0): files(8, 5, large=100)}) == set()
    assert worst_places({}) == set()


def test_the_worst_go_first_and_only_some() -> None:
    """A quarter of the places of a round, at least one."""
    places = {LakePlace(i): files(deletes=i) for i in range(12)}
    assert worst_places(places) == {LakePlace(11), LakePlace(10), LakePlace(9)}
    assert worst_places({LakePlace(0): files(20), LakePlace(1): files(deletes=7)}) == {LakePlace(0)}
