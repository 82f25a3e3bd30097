"""The old server's metadata, made that of the new one."""

from __future__ import annotations

import json
from pathlib import Path

from lakeward.server.books.lake_snapshots import AREA as LAKE_AREA
from lakeward.server.books.lake_snapshots import offsets_paths
from lakeward.server.books.row_numbers import AREA as NUMBERS_AREA
from lakeward.server.metadata_store.port import Change, Counter, Document, MetadataStore
from lakeward.server.remote.access.ownership import identity_document

#: What the old server may have given out after its last backup: as many ids of each kind are skipped.
_SKIPPED = {
    Counter.TABLE_ID: 1000,
    Counter.PARTITION_ID: 10_000,
    Counter.WRITER_ID: 100_000,
    Counter.COORDINATOR_EPOCH: 1000,
}
_SKIPPED_ROW_NUMBERS = 1_000_000
_LAKE = "/lake/"


def adopt(metadata: MetadataStore, server_id: str) -> None:
    """Give the server its new identity, and let no id be given a second time."""
    with metadata.change() as change:
        change.put_document(identity_document(server_id))
        skip_ids(metadata, change)


def skip_ids(metadata: MetadataStore, change: Change) -> None:
    """Let no id be given a second time that the server may have given out since."""
    for counter in Counter:
        change.take(counter, _SKIPPED[counter])
    for document in metadata.documents(NUMBERS_AREA):
        skipped = str(int(document.text) + _SKIPPED_ROW_NUMBERS)
        change.put_document(Document(document.area, document.key, skipped))


def lake_files(metadata: MetadataStore) -> set[str]:
    """The files of lake offsets that the metadata names, relative to the root they are in."""
    named = {path for document in metadata.documents(LAKE_AREA) for path in offsets_paths(document.text)}
    return {path[path.rindex(_LAKE) + 1 :] for path in named if _LAKE in path}


def move_lake_files(metadata: MetadataStore, root: Path) -> None:
    """Let the metadata name the files of lake offsets where they are now."""
    root = root.absolute()
    with metadata.change() as change:
        for document in metadata.documents(LAKE_AREA):
            text = document.text
            for path in offsets_paths(text):
                if _LAKE in path:
                    moved = str(root / path[path.rindex(_LAKE) + 1 :])
                    text = text.replace(json.dumps(path), json.dumps(moved))
            change.put_document(Document(document.area, document.key, text))
