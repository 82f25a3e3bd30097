"""Ids for idempotent writers."""

from __future__ import annotations

from lakeward.server.books.writer_ids import BLOCK_SIZE, WriterIds
from lakeward.server.metadata_store.memory_store import MemoryMetadataStore


class CountingStore(MemoryMetadataStore):
    """A store that counts its changes."""

    changes = 0

    def change(self):  # type: ignore[no-untyped-def]
        """One more change."""
        self.changes += 1
        return super().change()


def test_ids_are_distinct_and_cost_one_change_per_block() -> None:
    """A new writer does not wait for the disk."""
    store = CountingStore()
    ids = WriterIds(store)
    taken = [ids.take() for _ in range(2 * BLOCK_SIZE + 1)]
    assert taken == list(range(2 * BLOCK_SIZE + 1))
    assert store.changes == 3


def test_a_restart_skips_what_was_left_of_a_block() -> None:
    """An id given before a crash is never given after it."""
    store = MemoryMetadataStore()
    before = WriterIds(store).take()
    assert WriterIds(store).take() >= before + BLOCK_SIZE
