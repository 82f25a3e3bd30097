"""The state of one moment, handed out in pieces; and what RocksDB says when it fails."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from lakeward.errors import ErrorCode, LakewardError
from lakeward.storage.kv.rocksdb.rocksdb_view import RocksDbView, rocksdb_failures

ROWS = [(b"a", b"1"), (b"b", b"22"), (b"c", bytes(100)), (b"d", b"4")]


def view(rows: Iterator[tuple[bytes, bytes]]) -> RocksDbView:
    """Of rows in a list."""
    return RocksDbView(rows, len(ROWS), Path("work"))


def test_pieces_are_as_large_as_they_may_be() -> None:
    """Keys and values count; a row that is too large comes alone; an empty piece is the end."""
    seen = view(iter(ROWS))
    assert seen.row_count == 4
    assert [seen.read(5).to_list() for _ in range(4)] == [ROWS[:2], [ROWS[2]], [ROWS[3]], []]
    assert seen.read(5).to_list() == []


def test_a_closed_view_is_at_its_end() -> None:
    """It lets go of its rows, also of the one it had looked at already."""
    seen = view(iter(ROWS))
    seen.read(1)
    seen.close()
    assert seen.read(1000).to_list() == []


def test_a_failure_of_the_library_is_ours() -> None:
    """It raises plain exceptions; callers get one that names the directory."""
    with (
        pytest.raises(LakewardError, match="RocksDB in work failed: Corruption") as raised,
        rocksdb_failures(Path("work")),
    ):
        raise Exception("Corruption: block checksum mismatch")
    assert raised.value.code is ErrorCode.KV_STORAGE


def test_a_view_that_cannot_be_read_on_says_so() -> None:
    """In the midst of its rows, too."""

    def damaged() -> Iterator[tuple[bytes, bytes]]:
        yield ROWS[0]
        raise Exception("IO error")

    with pytest.raises(LakewardError, match="IO error"):
        view(damaged()).read(1000)
