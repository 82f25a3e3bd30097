"""A store on bad days: calls are made again for a while, then fail with one sentence; nothing half is ever visible."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from eventually import eventually
from faulty_proxy import Faults, FaultyProxy
from seaweed import SECRET_KEY, Bucket

from lakeward.errors import DeniedError, ErrorCode, RetriableError
from lakeward.remote.open_store import open_store
from lakeward.remote.stores.store import RemoteStore

_PARTS_BYTES = (20 << 20) + 17
_QUICK = {"remote.store.request-timeout": "5s", "remote.store.retry-timeout": "10s"}


@pytest.fixture
def proxy(s3: Bucket) -> Iterator[FaultyProxy]:
    """Stands before the store."""
    with FaultyProxy(s3.endpoint) as faulty:
        yield faulty


def _through(proxy: FaultyProxy, bucket: Bucket, **settings: str) -> RemoteStore:
    quick = {key.replace("_", "-").replace("--", "."): value for key, value in settings.items()}
    return open_store(bucket.url, {**bucket.settings, **_QUICK, "s3.endpoint": proxy.endpoint, **quick})


def _large_file(directory: Path) -> Path:
    source = directory / "source"
    source.write_bytes(os.urandom(_PARTS_BYTES))
    return source


async def test_a_store_that_is_busy_now_and_then_is_not_noticed(proxy: FaultyProxy, s3: Bucket, tmp_path: Path) -> None:
    """503 to one call in five, of all kinds, and every call succeeds; the answers are right."""
    store, source = _through(proxy, s3), _large_file(tmp_path)
    proxy.faults = Faults(busy_share=0.2)
    for number in range(20):
        await store.put(f"small/{number:02d}", str(number).encode())
    assert await store.put_file("large", source) == _PARTS_BYTES
    assert [await store.get(f"small/{number:02d}") for number in range(20)] == [str(n).encode() for n in range(20)]
    assert [found.path async for found in store.list("small")] == [f"small/{number:02d}" for number in range(20)]
    assert await store.get_file("large", tmp_path / "target") == _PARTS_BYTES
    assert (tmp_path / "target").read_bytes() == source.read_bytes()
    await store.delete_all("small")
    assert [found.path async for found in store.list()] == ["large"]


async def test_a_call_that_stalls_is_made_again(proxy: FaultyProxy, s3: Bucket) -> None:
    """A call is given up after its time and repeated: reads and writes, and creating, which still creates once."""
    store = _through(proxy, s3, remote__store__request_timeout="300ms")
    for work in (store.put("a", b"1"), store.create("b", b"2"), store.get("a"), store.delete(["a"])):
        proxy.faults = Faults(stall_s=1.0, times=1)
        await work
    assert await store.get("b") == b"2"


async def test_whoever_created_a_file_knows_it_though_the_answer_was_lost(proxy: FaultyProxy, s3: Bucket) -> None:
    """The store took it and the answer never came: the second try finds our own bytes, not somebody else's."""
    store = _through(proxy, s3)
    for content, others, is_ours in ((b"ours", None, True), (b"ours", b"theirs", False)):
        path = f"once-{is_ours}"
        if others is not None:
            await store.put(path, others)
        proxy.faults = Faults(cut_after_bytes=len(content), times=1)
        assert await store.create(path, content) is is_ours
        assert await store.get(path) == (others or content)


async def test_a_lost_connection_in_a_large_upload_is_repaired(proxy: FaultyProxy, s3: Bucket, tmp_path: Path) -> None:
    """The parts that were cut are sent again, and the object is whole."""
    store, source = _through(proxy, s3), _large_file(tmp_path)
    proxy.faults = Faults(matches=lambda request: request.is_part, cut_after_bytes=1 << 20, times=2)
    assert await store.put_file("large", source) == _PARTS_BYTES
    assert len(proxy.faults.seen) == 2
    assert await store.get("large") == source.read_bytes()


@pytest.mark.long
async def test_a_large_upload_that_fails_leaves_nothing_visible(proxy: FaultyProxy, s3: Bucket, tmp_path: Path) -> None:
    """When the store cannot be brought to take a part, the object is not there, and what was there before still is."""
    store = _through(proxy, s3, remote__store__retry_timeout="1s")
    source = _large_file(tmp_path)
    await store.put("before", b"old")
    for path in ("large", "before"):
        proxy.faults = Faults(matches=lambda request: request.is_part, cut_after_bytes=1 << 20)
        with pytest.raises(RetriableError, match=f"{path} cannot be written") as caught:
            await store.put_file(path, source)
        assert caught.value.code is ErrorCode.STORAGE
    proxy.faults = Faults()
    assert await store.head("large") is None
    assert await store.get("before") == b"old"


async def test_what_a_killed_upload_left_is_removed(proxy: FaultyProxy, s3: Bucket, tmp_path: Path) -> None:
    """Parts that never became a file are invisible; tidying ends their upload, and nobody else's."""
    store, source = _through(proxy, s3), _large_file(tmp_path)
    for path in ("left/large", "left-alone/large"):
        proxy.faults = Faults(matches=lambda request: request.is_part, stall_s=60)
        putting = asyncio.create_task(store.put_file(path, source))
        parts = f"/{path}?"
        assert await asyncio.to_thread(
            eventually, lambda parts=parts: any(r.is_part and parts in r.path for r in proxy.requests)
        )
        putting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await putting
    assert sorted(_open_uploads(s3)) == ["lakeward/left-alone/large", "lakeward/left/large"]
    await store.tidy("left")
    assert _open_uploads(s3) == ["lakeward/left-alone/large"]
    assert [found.path async for found in store.list()] == []
    await store.close()


def _open_uploads(bucket: Bucket) -> list[str]:
    with contextlib.closing(bucket.client()) as client:
        return [upload["Key"] for upload in client.list_multipart_uploads(Bucket=bucket.name).get("Uploads", [])]


async def test_a_lost_connection_in_a_download_is_repaired(proxy: FaultyProxy, s3: Bucket, tmp_path: Path) -> None:
    """The local file appears when it is whole; a broken answer is asked for again."""
    store, source = _through(proxy, s3), _large_file(tmp_path)
    await store.put_file("large", source)
    proxy.faults = Faults(matches=lambda request: request.method == "GET", cut_after_bytes=1 << 20, times=3)
    assert await store.get_file("large", tmp_path / "target") == _PARTS_BYTES
    assert (tmp_path / "target").read_bytes() == source.read_bytes()


async def test_a_slow_store_is_slow_and_nothing_else(proxy: FaultyProxy, s3: Bucket) -> None:
    """A call that moves is not given up before its time."""
    store = _through(proxy, s3)
    proxy.faults = Faults(bytes_per_second=4 << 20)
    await store.put("slow", b"x" * (1 << 20))
    assert await store.get("slow") == b"x" * (1 << 20)


async def test_a_denied_call_fails_at_once_and_tells_no_secret(proxy: FaultyProxy, s3: Bucket) -> None:
    """Asking again would not help; the sentence says what was denied."""
    store = _through(proxy, s3)
    proxy.faults = Faults(is_denied=True)
    before = len(proxy.requests)
    with pytest.raises(DeniedError, match=r"/a cannot be written: these keys may not do that") as caught:
        await store.put("a", b"1")
    assert len(proxy.requests) == before + 1
    assert SECRET_KEY not in f"{caught.value!r} {caught.value.__cause__!r}"


@pytest.mark.long
async def test_a_store_that_is_gone_for_longer_than_we_wait_fails_in_one_sentence(
    proxy: FaultyProxy, s3: Bucket
) -> None:
    """The error names the place and what is wrong; when the store is back, so are we, without a restart."""
    store = _through(proxy, s3, remote__store__retry_timeout="500ms")
    await store.put("a", b"1")
    proxy.go_away()
    with pytest.raises(RetriableError) as caught:
        await store.get("a")
    assert caught.value.message == f"{s3.url}/a cannot be read: nothing listens at {proxy.endpoint}; check s3.endpoint."
    proxy.come_back()
    assert await store.get("a") == b"1"


async def test_a_store_that_is_back_in_time_is_not_missed(proxy: FaultyProxy, s3: Bucket) -> None:
    """A call that began while the store was away succeeds when it is back."""
    store = _through(proxy, s3)
    proxy.go_away()
    putting = asyncio.create_task(store.put("a", b"1"))
    await asyncio.sleep(0.3)
    assert not putting.done()
    proxy.come_back()
    await putting
    assert await store.get("a") == b"1"
