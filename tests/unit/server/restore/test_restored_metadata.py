"""Metadata that is restored: a new identity, ids that were never given, files where they are now."""

from __future__ import annotations

import json
from pathlib import Path

from lakeward.server.books.lake_snapshots import AREA as LAKE_AREA
from lakeward.server.books.lake_snapshots import offsets_paths
from lakeward.server.books.row_numbers import RowNumbers
from lakeward.server.metadata_store.memory_store import MemoryMetadataStore
from lakeward.server.metadata_store.port import Counter, Document
from lakeward.server.remote.access.ownership import AREA as OWNER_AREA
from lakeward.server.restore.restored_metadata import adopt, lake_files, move_lake_files


def test_no_id_is_given_twice() -> None:
    """The old server may have given some after its last backup."""
    metadata = MemoryMetadataStore()
    RowNumbers(metadata).reserve(7, 100)
    with metadata.change() as change:
        before = {counter: change.take(counter) for counter in Counter}
    adopt(metadata, "new")
    with metadata.change() as change:
        assert all(change.take(counter) > before[counter] + 500 for counter in Counter)
    assert RowNumbers(metadata).reserve(7, 1) > 100_000
    assert [document.text for document in metadata.documents(OWNER_AREA)] == ["new"]


def test_files_of_the_lake_are_found_where_they_are_now() -> None:
    """Paths are those of the old machine."""
    metadata = MemoryMetadataStore()
    old = "/old/data/lake/db/t-1/metadata/a.offsets"
    snapshots = [
        {"snapshot_id": 1, "tiered_offsets": old, "readable_offsets": old.replace("a.", "b."), "committed_ms": 5},
        {"snapshot_id": 2, "tiered_offsets": old.replace("a.", "c."), "committed_ms": 6},
    ]
    with metadata.change() as change:
        change.put_document(Document(LAKE_AREA, "1", json.dumps({"version": 2, "lake_snapshots": snapshots})))
    named = {f"lake/db/t-1/metadata/{name}.offsets" for name in "abc"}
    assert lake_files(metadata) == named
    move_lake_files(metadata, Path("/new"))
    (document,) = metadata.documents(LAKE_AREA)
    assert offsets_paths(document.text) == {f"/new/{path}" for path in named}
