"""A directory as a store: whole files or none, whatever the file system can do."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Any

import pytest
from small_disk import small_disk

from lakeward.errors import ErrorCode, RetriableError
from lakeward.remote.stores.directory_store import DirectoryStore
from lakeward.remote.stores.pace import Pace


def _store(root: Path) -> DirectoryStore:
    return DirectoryStore(str(root), root)


def _files(root: Path) -> list[str]:
    return sorted(path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file())


async def test_a_full_disk_leaves_the_old_file_and_nothing_half(tmp_path: Path) -> None:
    """The error says why; when there is room, the same call succeeds."""
    with small_disk(tmp_path / "disk") as disk:
        store = _store(disk.path / "remote")
        await store.put("a/old", b"old")
        source = tmp_path / "source"
        source.write_bytes(os.urandom(4 << 20))
        disk.fill(but_bytes=1 << 20)
        for copying in (store.put_file("a/old", source), store.put_file("b/new", source, pace=Pace(1 << 40))):
            with pytest.raises(RetriableError, match="no space left on device") as caught:
                await copying
            assert caught.value.code is ErrorCode.STORAGE
        assert _files(disk.path / "remote") == ["a/old"]
        assert await store.get("a/old") == b"old"
        disk.make_room()
        await store.put_file("a/old", source)
        assert await store.get("a/old") == source.read_bytes()


async def test_a_paced_copy_is_the_same_copy(tmp_path: Path) -> None:
    """In chunks, with the last one shorter."""
    source = tmp_path / "source"
    source.write_bytes(os.urandom((9 << 20) + 5))
    store = _store(tmp_path / "remote")
    assert await store.put_file("x", source, pace=Pace(1 << 40)) == (9 << 20) + 5
    assert await store.get("x") == source.read_bytes()
    assert _files(tmp_path / "remote") == ["x"]


async def test_empty_directories_do_not_stay(tmp_path: Path) -> None:
    """As in S3, a directory is there while something is in it; the root stays."""
    store = _store(tmp_path / "remote")
    await store.put("a/b/c/1", b".")
    await store.put("a/2", b".")
    await store.delete(["a/b/c/1"])
    assert not (tmp_path / "remote/a/b").exists()
    await store.delete_all("a")
    assert (tmp_path / "remote").is_dir()
    assert not any((tmp_path / "remote").iterdir())


async def test_what_is_under_way_is_not_listed(tmp_path: Path) -> None:
    """A copy that was killed is not there."""
    store = _store(tmp_path)
    await store.put("a/1", b".")
    (tmp_path / "a" / ".2.0123456789ab.part").write_bytes(b"half")
    assert [found.path async for found in store.list()] == ["a/1"]


async def test_file_systems_without_links_create_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Network file systems often have none, and cannot sync a directory either."""
    sync = os.fsync

    def no_link(*_: Any, **__: Any) -> None:
        raise OSError(errno.EPERM, "Operation not permitted")

    def files_only(descriptor: int) -> None:
        if os.path.isdir(f"/proc/self/fd/{descriptor}"):  # noqa: PTH112
            raise OSError(errno.EINVAL, "Invalid argument")
        sync(descriptor)

    monkeypatch.setattr(os, "link", no_link)
    monkeypatch.setattr(os, "fsync", files_only)
    store = _store(tmp_path)
    assert await store.create("a/once", b"1")
    assert not await store.create("a/once", b"2")
    assert await store.get("a/once") == b"1"


async def test_a_failing_disk_is_told_and_not_taken_for_a_missing_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only what is not there is missing."""

    def broken(_: int) -> None:
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(os, "fsync", broken)
    with pytest.raises(RetriableError, match=r"a cannot be written: input/output error\."):
        await _store(tmp_path).put("a", b".")
    assert _files(tmp_path) == []
