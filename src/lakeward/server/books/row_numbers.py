"""RowNumbers: the counter behind a table's auto-increment column, durable."""

from __future__ import annotations

from lakeward.server.books.row_number_files import RowNumberFiles
from lakeward.server.metadata_store.port import Document, MetadataStore

AREA = "row-numbers"


class RowNumbers:
    """One counter per table. A number that was handed out is never handed out again."""

    def __init__(self, store: MetadataStore) -> None:
        self._store = store

    def reserve(self, table_id: int, count: int) -> int:
        """Advance a table's counter; returns what it was before."""
        before = self._count(table_id)
        with self._store.change() as change:
            change.put_document(Document(AREA, str(table_id), str(before + count)))
        return before

    def hand_out(self, files: RowNumberFiles) -> None:
        """Other processes take numbers from now on, from where this one is."""
        for document in self._store.documents(AREA):
            files.raise_to(int(document.key), int(document.text))

    def follow(self, files: RowNumberFiles) -> None:
        """Note how far other processes are."""
        ahead = {table_id: value for table_id, value in files.all().items() if value > self._count(table_id)}
        if ahead:
            with self._store.change() as change:
                for table_id, value in ahead.items():
                    change.put_document(Document(AREA, str(table_id), str(value)))

    def _count(self, table_id: int) -> int:
        return int(self._store.document(AREA, str(table_id)) or 0)
