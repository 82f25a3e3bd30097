"""RowNumbers: the counter behind a table's auto-increment column, durable."""

from __future__ import annotations

from lakeward.server.metadata_store.port import Document, MetadataStore

AREA = "row-numbers"


class RowNumbers:
    """One counter per table. A number that was handed out is never handed out again."""

    def __init__(self, store: MetadataStore) -> None:
        self._store = store

    def reserve(self, table_id: int, count: int) -> int:
        """Advance a table's counter; returns what it was before."""
        before = int(self._store.document(AREA, str(table_id)) or 0)
        with self._store.change() as change:
            change.put_document(Document(AREA, str(table_id), str(before + count)))
        return before
