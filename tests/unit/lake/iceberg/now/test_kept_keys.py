"""What was read of files is kept up to a bound, and read again when it has left."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from lakeward.lake.iceberg.now.kept_keys import KeptKeys


class Store:
    """Files of a hundred keys each, and how often they were read."""

    def __init__(self, bytes_max: int) -> None:
        self.kept = KeptKeys(bytes_max)
        self.reads: list[str] = []

    def keys(self, path: str, name: str = "id") -> pa.Table:
        """The keys of a file."""

        def read() -> pa.Table:
            self.reads.append(path)
            return pa.table({name: np.full(100, int(path))})

        found = self.kept.keys(path, [name], read)
        assert found[name].to_pylist() == [int(path)] * 100
        return found


def test_the_least_recently_used_leaves_and_is_read_again() -> None:
    """There is room for three files of 800 bytes, and what stands around them."""
    store = Store(3 * 1800)
    for path in ("1", "2", "3", "1", "4", "1", "3", "4"):
        store.keys(path)
        assert store.kept.bytes <= 3 * 1800
    assert store.reads == ["1", "2", "3", "4"]
    store.keys("2")
    assert store.reads[-1] == "2"


@pytest.mark.parametrize("bytes_max", [0, 1799])
def test_what_is_larger_than_the_bound_is_read_each_time(bytes_max: int) -> None:
    """And drives nothing out."""
    store = Store(bytes_max)
    for _ in range(3):
        store.keys("1")
    assert store.reads == ["1"] * 3
    assert store.kept.bytes == 0


def test_other_columns_of_a_file_are_not_its_keys() -> None:
    """They are read."""
    store = Store(10_000)
    store.keys("1")
    store.keys("1", "other")
    assert store.reads == ["1", "1"]
    assert store.kept.bytes == 1800


def test_deletes_count_and_what_is_no_more_is_forgotten() -> None:
    """Files of deletes are within the same bound."""
    kept, reads = KeptKeys(100_000), []

    def read() -> dict[str, np.ndarray]:
        reads.append("d")
        return {"f": np.arange(10)}

    for _ in range(2):
        assert kept.deletes("d", read)["f"].tolist() == list(range(10))
    assert reads == ["d"]
    assert kept.bytes == 80 + 2000
    kept.drop(["d", "never there"])
    assert kept.bytes == 0
    kept.deletes("d", read)
    assert len(reads) == 2
