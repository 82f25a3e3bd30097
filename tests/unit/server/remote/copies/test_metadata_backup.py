"""MetadataBackup: every change arrives, in order, whole; two are kept."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest
from eventually import soon
from failing_store import FailingStore

from lakeward.runtime.clock import SystemClock
from lakeward.runtime.entropy import SystemEntropy
from lakeward.runtime.files.local_files import LocalFiles
from lakeward.server.metadata_store.port import Document
from lakeward.server.metadata_store.sqlite_store import SqliteMetadataStore
from lakeward.server.remote.access.ownership import Ownership
from lakeward.server.remote.copies.metadata_backup import MetadataBackup, stored_backups, unpack
from lakeward.server.restore.source import fetch_metadata


@pytest.fixture
def metadata(tmp_path: Path) -> Iterator[SqliteMetadataStore]:
    """Metadata on disk."""
    store = SqliteMetadataStore(LocalFiles(), SystemEntropy(), tmp_path / "metadata.db")
    yield store
    store.close()


@pytest.fixture
def store(tmp_path: Path) -> FailingStore:
    """Where backups go."""
    return FailingStore(tmp_path / "remote")


def put(metadata: SqliteMetadataStore, key: str, text: str) -> None:
    """A change."""
    with metadata.change() as change:
        change.put_document(Document("test", key, text))


def backup_of(metadata: SqliteMetadataStore, store: FailingStore) -> MetadataBackup:
    """One for a server of its own."""
    return MetadataBackup(metadata, store, Ownership(store, metadata, SystemClock(), SystemEntropy()), SystemClock())


async def restored(store: FailingStore, target: Path) -> dict[str, str]:
    """The documents in the newest backup."""
    await fetch_metadata(store, target)
    opened = SqliteMetadataStore(LocalFiles(), SystemEntropy(), target)
    found = {document.key: document.text for document in opened.documents("test")}
    opened.close()
    return found


async def test_changes_arrive_together_and_in_order(
    metadata: SqliteMetadataStore, store: FailingStore, tmp_path: Path
) -> None:
    """A swarm of changes is a few backups, of which two stay; the newest has everything."""
    backup = backup_of(metadata, store)
    backup.begin()
    for number in range(50):
        put(metadata, "k", str(number))
        await asyncio.sleep(0)
    await backup.drain()
    assert not backup.is_behind
    assert await restored(store, tmp_path / "again.db") == {"k": "49"}
    for number in range(3):
        put(metadata, "k", f"later {number}")
        await backup.drain()
    assert await soon(lambda: len(store.files("lakeward/metadata")) == 2)
    await backup.stop()
    assert await restored(store, tmp_path / "again.db") == {"k": "later 2"}
    assert len([path for operation, path in store.asked if operation == "put" and "metadata" in path]) < 10


async def test_a_store_that_fails_is_tried_again(
    metadata: SqliteMetadataStore, store: FailingStore, tmp_path: Path
) -> None:
    """What was there before stays until the next one is whole."""
    backup = backup_of(metadata, store)
    put(metadata, "k", "1")
    await backup.copy()
    store.fails = lambda operation, _: operation == "put"
    backup.begin()
    put(metadata, "k", "2")
    assert await soon(lambda: backup.trouble.is_there)
    assert backup.is_behind
    assert await restored(store, tmp_path / "again.db") == {"k": "1"}
    store.fails = lambda *_: False
    await backup.drain()
    await backup.stop()
    assert await restored(store, tmp_path / "again.db") == {"k": "2"}


async def test_a_stop_copies_what_is_left(metadata: SqliteMetadataStore, store: FailingStore, tmp_path: Path) -> None:
    """A server that is stopped leaves nothing behind."""
    backup = backup_of(metadata, store)
    backup.begin()
    put(metadata, "k", "last")
    await backup.stop()
    assert await restored(store, tmp_path / "again.db") == {"k": "last"}


async def test_a_damaged_backup_is_passed_over(
    metadata: SqliteMetadataStore, store: FailingStore, tmp_path: Path
) -> None:
    """The one before it is taken, and that is told."""
    backup = backup_of(metadata, store)
    for text in ("1", "2"):
        put(metadata, "k", text)
        await backup.copy()
    newest = store.root / (await stored_backups(store))[0]
    newest.write_bytes(newest.read_bytes()[:-20])
    assert await restored(store, tmp_path / "again.db") == {"k": "1"}
    (trouble,) = await fetch_metadata(store, tmp_path / "again.db")
    assert "an older one was taken" in trouble


def test_what_is_no_backup_is_refused() -> None:
    """With one kind of error."""
    with pytest.raises(ValueError, match=r".+"):
        unpack(b"no gzip")


async def test_small_files_go_first(metadata: SqliteMetadataStore, store: FailingStore, tmp_path: Path) -> None:
    """What the metadata names is there before the metadata, and is copied once."""
    file = tmp_path / "x.offsets"
    file.write_bytes(b"offsets")
    ownership = Ownership(store, metadata, SystemClock(), SystemEntropy())
    backup = MetadataBackup(metadata, store, ownership, SystemClock(), lambda: [("lake/x.offsets", file)])
    await backup.copy()
    await backup.copy()
    written = [path for operation, path in store.asked if operation in {"put", "put_file"}]
    assert written.count("lake/x.offsets") == 1
    assert written.index("lake/x.offsets") < min(i for i, path in enumerate(written) if "metadata/" in path)
