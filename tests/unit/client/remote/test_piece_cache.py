"""Pieces on disk: loaded once, bounded, shared, and gone afterwards."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from lakeward.client.remote.cache_directory import CacheDirectory, sweep
from lakeward.client.remote.piece_cache import PieceCache, release, shared_cache
from lakeward.errors import ErrorCode, LakewardError


@pytest.fixture
def workers() -> Iterator[ThreadPoolExecutor]:
    """Threads."""
    with ThreadPoolExecutor(2) as made:
        yield made


@pytest.fixture
def cache(tmp_path: Path) -> Iterator[PieceCache]:
    """A cache of three pieces of a hundred bytes."""
    made = PieceCache(tmp_path, 300)
    yield made
    made.close()


class Loads:
    """Counts how often a piece is loaded."""

    def __init__(self) -> None:
        self.keys: list[str] = []

    def of(self, key: str):  # type: ignore[no-untyped-def]
        """Loads a hundred bytes."""

        async def load() -> bytes:
            self.keys.append(key)
            await asyncio.sleep(0)
            return key.encode() * 100

        return load


def files(parent: Path) -> int:
    """How many pieces are on disk."""
    return len(list(parent.glob("*/*.piece")))


async def test_a_piece_is_loaded_once(cache: PieceCache, workers: ThreadPoolExecutor) -> None:
    """Whether asked for again or at the same time."""
    loads = Loads()
    found = await asyncio.gather(*(cache.piece("k", loads.of("k"), workers) for _ in range(5)))
    found.append(await cache.piece("k", loads.of("k"), workers))
    assert {bytes(view) for view in found} == {b"k" * 100}
    assert loads.keys == ["k"]


async def test_the_least_recently_used_make_room(
    cache: PieceCache, workers: ThreadPoolExecutor, tmp_path: Path
) -> None:
    """Disk is bounded, and a view outlives its file."""
    loads = Loads()
    views = [await cache.piece(key, loads.of(key), workers) for key in "abc"]
    await cache.piece("a", loads.of("a"), workers)
    await cache.piece("d", loads.of("d"), workers)
    assert files(tmp_path) == 3
    await cache.piece("a", loads.of("a"), workers)
    await cache.piece("b", loads.of("b"), workers)
    assert loads.keys == ["a", "b", "c", "d", "b"]
    assert [bytes(view[:1]) for view in views] == [b"a", b"b", b"c"]


async def test_a_failed_load_is_told_to_all_and_tried_again(cache: PieceCache, workers: ThreadPoolExecutor) -> None:
    """A failure is not kept."""

    async def fail() -> bytes:
        await asyncio.sleep(0)
        raise ErrorCode.STORAGE.error("gone")

    failed = await asyncio.gather(*(cache.piece("k", fail, workers) for _ in range(3)), return_exceptions=True)
    assert all(isinstance(one, LakewardError) for one in failed)
    assert bytes(await cache.piece("k", Loads().of("k"), workers)) == b"k" * 100


async def test_who_waits_takes_over_when_the_loader_leaves(cache: PieceCache, workers: ThreadPoolExecutor) -> None:
    """A scan that is closed does not take the others' piece with it."""
    began = asyncio.Event()

    async def never() -> bytes:
        began.set()
        await asyncio.Event().wait()
        return b""

    loader = asyncio.create_task(cache.piece("k", never, workers))
    await began.wait()
    loads = Loads()
    waiter = asyncio.create_task(cache.piece("k", loads.of("k"), workers))
    other = asyncio.create_task(cache.piece("k", loads.of("k"), workers))
    await asyncio.sleep(0)
    loader.cancel()
    assert bytes(await waiter) == bytes(await other) == b"k" * 100
    assert loads.keys == ["k"]


async def test_scans_on_other_loops_share_a_load(cache: PieceCache, workers: ThreadPoolExecutor) -> None:
    """Each blocking connection has a loop of its own."""
    loads = Loads()

    def elsewhere() -> bytes:
        return bytes(asyncio.run(cache.piece("k", loads.of("k"), workers)))

    with ThreadPoolExecutor(3) as threads:
        found = await asyncio.gather(
            *(asyncio.get_running_loop().run_in_executor(threads, elsewhere) for _ in range(3))
        )
    assert found == [b"k" * 100] * 3
    assert loads.keys == ["k"]


async def test_without_disk_pieces_stay_in_memory(
    cache: PieceCache, workers: ThreadPoolExecutor, caplog: pytest.LogCaptureFixture
) -> None:
    """A full or vanished disk slows reads down; it is told once."""
    cache._directory.path.rmdir()
    for key in "abcde":
        assert bytes(await cache.piece(key, Loads().of(key), workers)) == key.encode() * 100
    assert [record.levelname for record in caplog.records] == ["WARNING"]


def test_the_last_to_leave_removes_the_files(tmp_path: Path) -> None:
    """Connections of a process share one directory."""
    first, second = shared_cache(tmp_path, 100), shared_cache(tmp_path, 300)
    assert first is second
    assert first.limit_bytes == 300
    release(tmp_path)
    assert len(list(tmp_path.iterdir())) == 1
    release(tmp_path)
    assert not list(tmp_path.iterdir())
    release(tmp_path)


def test_a_killed_process_is_swept_and_a_living_one_is_not(tmp_path: Path) -> None:
    """Leftovers go when the next process begins."""
    script = (
        "import os, sys; from pathlib import Path; from lakeward.client.remote.cache_directory import CacheDirectory;"
        "made = CacheDirectory(Path(sys.argv[1])); (made.path / 'x.piece').write_bytes(b'x'); os._exit(9)"
    )
    subprocess.run([sys.executable, "-c", script, str(tmp_path)], check=False)
    (left,) = tmp_path.iterdir()
    alive = CacheDirectory(tmp_path)
    assert not left.exists()
    sweep(tmp_path)
    assert alive.path.exists()
    alive.remove()
    assert not list(tmp_path.iterdir())


def test_a_directory_that_cannot_be_made_is_told_with_the_option(tmp_path: Path) -> None:
    """The user learns which option to set."""
    (tmp_path / "file").write_text("")
    with pytest.raises(LakewardError, match=r"client\.scanner\.io\.tmpdir"):
        CacheDirectory(tmp_path / "file" / "below")
