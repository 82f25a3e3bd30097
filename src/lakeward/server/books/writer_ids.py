"""WriterIds: ids for idempotent writers, taken from the store in blocks so that a new writer costs no disk sync."""

from __future__ import annotations

from lakeward.server.metadata_store.port import Counter, MetadataStore

BLOCK_SIZE = 1000


class WriterIds:
    """Gives each writer an id that no other ever had. What is left of a block is lost at a restart."""

    def __init__(self, store: MetadataStore) -> None:
        self._store = store
        self._next = self._end = 0

    def take(self) -> int:
        """A fresh id."""
        if self._next == self._end:
            with self._store.change() as change:
                first = change.take(Counter.WRITER_ID, BLOCK_SIZE)
            self._next, self._end = first, first + BLOCK_SIZE
        self._next += 1
        return self._next - 1
