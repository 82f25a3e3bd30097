"""Changes wait for company, and leave when they are enough."""

from __future__ import annotations

import numpy as np

from lakeward.client.keys.packed_bytes import PackedBytes
from lakeward.client.upsert.change_batching import BATCH_ROWS_MAX, ChangeBatching
from lakeward.client.upsert.changes import Piece
from lakeward.client.write.batching import Destination

HERE, THERE = Destination(None, 0), Destination("p", 1)


def piece(first: int, rows: int, bytes_each: int = 10) -> Piece:
    """Changes that say which they are."""
    return Piece(PackedBytes.of([]), None, np.arange(first, first + rows), rows * bytes_each)


def rows_of(pieces: list[Piece]) -> list[int]:
    """Which changes a batch holds."""
    return [i for p in pieces for i in p.which.tolist()]


def test_small_writes_are_gathered_until_the_batch_is_full() -> None:
    """By bytes; destinations do not mix."""
    batching = ChangeBatching(batch_bytes=100)
    assert [list(batching.add(HERE, piece(i * 3, 3))) for i in range(3)] == [[], [], []]
    assert list(batching.add(THERE, piece(0, 1))) == []
    (full,) = batching.add(HERE, piece(9, 3))
    assert rows_of(full) == list(range(12))
    assert batching.waiting() == [THERE]
    assert rows_of(batching.close(THERE)) == [0]
    assert batching.waiting() == []


def test_a_batch_never_has_more_rows_than_asked_for() -> None:
    """A large piece is cut, and the first cut fills up what waits."""
    batching = ChangeBatching(batch_bytes=1 << 30, batch_rows=4)
    assert list(batching.add(HERE, piece(0, 3))) == []
    full = list(batching.add(HERE, piece(3, 10)))
    assert [rows_of(b) for b in full] == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11]]
    assert rows_of(batching.close(HERE)) == [12]


def test_the_rows_of_a_batch_are_limited_in_any_case() -> None:
    """An Apache server cannot log more changes at once."""
    for wanted in (None, 10 * BATCH_ROWS_MAX):
        full = list(ChangeBatching(1 << 40, wanted).add(HERE, piece(0, 2 * BATCH_ROWS_MAX)))
        assert [len(rows_of(b)) for b in full] == [BATCH_ROWS_MAX] * 2
