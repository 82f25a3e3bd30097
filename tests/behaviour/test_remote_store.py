"""What every store of remote files does alike: a directory, and two servers that speak S3."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from lakeward.errors import ErrorCode, NotFoundError
from lakeward.remote.open_store import open_store
from lakeward.remote.stores.store import RemoteStore


@pytest_asyncio.fixture(params=["directory", "s3", "moto_s3"])
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[RemoteStore]:
    """A store with nothing in it."""
    if request.param == "directory":
        opened = open_store(str(tmp_path / "remote"), {})
    else:
        bucket = request.getfixturevalue(request.param)
        opened = open_store(bucket.url, bucket.settings)
    yield opened
    await opened.close()


async def _paths(store: RemoteStore, prefix: str = "") -> list[str]:
    return [found.path async for found in store.list(prefix)]


async def test_what_is_put_is_got(store: RemoteStore) -> None:
    """Bytes come back as they went, whole and in part."""
    await store.put("a/b/c.bin", b"0123456789")
    assert await store.get("a/b/c.bin") == b"0123456789"
    assert await store.get_range("a/b/c.bin", 2, 5) == b"234"
    assert await store.get_range("a/b/c.bin", 8, 99) == b"89"
    assert await store.get_range("a/b/c.bin", 10, 99) == b""
    assert await store.get_range("a/b/c.bin", 5, 5) == b""
    await store.put("a/b/c.bin", b"other")
    assert await store.get("a/b/c.bin") == b"other"


async def test_a_missing_file_is_said_to_be_missing(store: RemoteStore, tmp_path: Path) -> None:
    """Reading what is not there is a NotFoundError of storage, asking for it is None."""
    assert await store.head("no/such.file") is None
    for reading in (
        store.get("no/such.file"),
        store.get_range("no/such.file", 0, 1),
        store.get_file("no/such.file", tmp_path / "copy"),
    ):
        with pytest.raises(NotFoundError, match=r"no/such\.file does not exist") as caught:
            await reading
        assert caught.value.code is ErrorCode.STORAGE
    assert not (tmp_path / "copy").exists()


async def test_only_one_of_many_creates(store: RemoteStore) -> None:
    """Of sixteen that create the same file one does, and its bytes are there."""
    won = await asyncio.gather(*(store.create("once", str(number).encode()) for number in range(16)))
    assert won.count(True) == 1
    assert await store.get("once") == str(won.index(True)).encode()


@pytest.mark.parametrize("size", [0, 1, 8 << 20, (20 << 20) + 17])
async def test_files_go_there_and_back(store: RemoteStore, tmp_path: Path, size: int) -> None:
    """A file of any size, in one piece or in parts, comes back as it was."""
    source, target = tmp_path / "source", tmp_path / "target"
    source.write_bytes(os.urandom(size))
    assert await store.put_file("dir/file", source) == size
    found = await store.head("dir/file")
    assert found is not None
    assert (found.path, found.size) == ("dir/file", size)
    assert await store.get_file("dir/file", target) == size
    assert target.read_bytes() == source.read_bytes()
    assert not await asyncio.to_thread(lambda: list(tmp_path.glob(".*.part")))


async def test_a_listing_is_of_a_directory_and_in_order(store: RemoteStore) -> None:
    """A prefix is whole names: 'a/x' lists nothing of 'a/xy'."""
    for path in ("a/xy/1", "a/x/2", "a/x/1", "b", "a/x/sub/3"):
        await store.put(path, b".")
    assert await _paths(store) == ["a/x/1", "a/x/2", "a/x/sub/3", "a/xy/1", "b"]
    assert await _paths(store, "a/x") == ["a/x/1", "a/x/2", "a/x/sub/3"]
    assert await _paths(store, "nothing/here") == []


async def test_what_is_deleted_is_gone_and_deleting_twice_is_fine(store: RemoteStore) -> None:
    """Deleting is idempotent, of files and of everything below a directory."""
    for path in ("a/1", "a/2", "a/b/3", "c/4"):
        await store.put(path, b".")
    await store.delete(["a/1", "a/1", "never/was"])
    assert await _paths(store) == ["a/2", "a/b/3", "c/4"]
    await store.delete_all("a")
    await store.delete_all("a")
    assert await _paths(store) == ["c/4"]
    await store.delete([])


@pytest.mark.parametrize("path", ["", "/etc/passwd", "a/../../b", "a//b", "a/./b", "a/"])
async def test_paths_stay_inside(store: RemoteStore, path: str) -> None:
    """A path that would leave the root, or means the root, is refused before anything happens."""
    with pytest.raises(Exception, match="not a path inside"):
        await store.put(path, b".")
