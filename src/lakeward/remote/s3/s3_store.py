"""S3Store: a bucket, by obstore.

A call that fails for a while (5xx, time-outs, lost connections) is made again by obstore, with longer and longer
pauses, until `remote.store.retry-timeout` is over. Large files go in parts, which become one object when all have
arrived.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from datetime import timedelta
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import obstore
from obstore import exceptions
from obstore import store as stores

from lakeward.errors import DeniedError, ErrorCode, NotFoundError, RetriableError
from lakeward.remote.s3.credential_chain import found_credentials
from lakeward.remote.s3.open_uploads import OpenUploads
from lakeward.remote.s3.s3_failures import BehindEndError, ExistsError, failure
from lakeward.remote.s3.s3_keys import Keys
from lakeward.remote.s3.s3_settings import S3Settings
from lakeward.remote.stores.pace import Pace
from lakeward.remote.stores.retry import FIRST_PAUSE_MS, longest_pause_ms, retry
from lakeward.remote.stores.store import StoredObject, checked_path
from lakeward.remote.stores.whole_files import beside_of
from lakeward.runtime.clock import Clock, SystemClock

if TYPE_CHECKING:
    from obstore import Bytes, GetResult, ObjectMeta

T = TypeVar("T")
_PART_BYTES = 8 << 20
_PARTS_AT_ONCE = 4
_LIST_PAGE = 1000
_CONNECT_TIMEOUT_S = 5
_SETTLE_S = 0.2


class S3Store:
    """A RemoteStore in a bucket, below a prefix."""

    def __init__(self, url: str, bucket: str, prefix: str, settings: S3Settings, clock: Clock | None = None) -> None:
        self.url = url
        self.bucket = bucket
        self.prefix = prefix
        self.settings = settings
        self._clock = clock or SystemClock()
        source = found_credentials(settings, self._clock)
        self._keys = Keys(source)
        self._uploads = OpenUploads(bucket, settings, source, self._clock)
        self._store = _open(bucket, prefix, settings, self._keys, settings.retries)
        self._is_cancelled = False

    @cached_property
    def _once(self) -> stores.S3Store:
        """The same without retries; readers never need it, and it takes milliseconds to open."""
        return _open(self.bucket, self.prefix, self.settings, self._keys, retries=0)

    async def put(self, path: str, data: bytes) -> None:
        """Store a small file, in place of what is there."""
        await self._run("written", path, obstore.put_async(self._store, checked_path(path), data, use_multipart=False))

    async def create(self, path: str, data: bytes) -> bool:
        """Store a small file unless one is there; whether it was stored.

        A call whose answer was lost may have stored it: then what is there is ours if it is the same.
        """
        is_lost = False

        async def create() -> bool:
            nonlocal is_lost
            sending = obstore.put_async(self._once, checked_path(path), data, mode="create", use_multipart=False)
            try:
                await self._run("written", path, sending)
            except ExistsError:
                return is_lost and await self.get(path) == data
            except RetriableError:
                is_lost = True
                raise
            return True

        return await self._again(create)

    async def put_file(self, path: str, source: Path, *, pace: Pace | None = None) -> int:
        """Copy a local file into the store, in parts when it is large; its size."""
        size, whole = await asyncio.to_thread(_looked_at, source)
        if whole is not None:
            if pace is not None:
                await pace.take(size)
            await self.put(path, whole)
            return size
        await self._again(lambda: self._put_parts(path, source, size, pace))
        return size

    async def _put_parts(self, path: str, source: Path, size: int, pace: Pace | None) -> None:
        sending = obstore.put_async(
            self._store,
            checked_path(path),
            source if pace is None else _paced_bytes(source, size, pace),
            chunk_size=_PART_BYTES,
            max_concurrency=_PARTS_AT_ONCE,
        )
        await self._run("written", path, sending)

    async def get(self, path: str) -> bytes:
        """A whole file."""
        found = await self._run("read", path, obstore.get_async(self._store, checked_path(path)))
        return (await self._run("read", path, found.bytes_async())).to_bytes()

    async def get_range(self, path: str, start: int, end: int) -> bytes:
        """The bytes from `start` up to, not including, `end`; fewer where the file ends before."""
        if end <= start:
            return b""
        reading = obstore.get_range_async(self._store, checked_path(path), start=start, end=end)
        try:
            return (await self._run("read", path, reading)).to_bytes()
        except BehindEndError:
            return b""

    async def get_file(self, path: str, target: Path) -> int:
        """Copy a file to a local one, which appears when it is whole; its size."""
        asked = obstore.get_async(self._store, checked_path(path), options={"range": (0, _PART_BYTES)})
        try:
            begun = await self._run("read", path, asked)
        except BehindEndError:  # an empty file has no first byte
            await asyncio.to_thread(_write_file, target, b"")
            return 0
        size = begun.meta["size"]
        if size <= _PART_BYTES:
            whole = await self._run("read", path, begun.bytes_async())
            await asyncio.to_thread(_write_file, target, whole)
        else:
            await self._get_parts(path, size, begun, target)
        return size

    async def _get_parts(self, path: str, size: int, first: GetResult, target: Path) -> None:
        beside = beside_of(target)
        descriptor = await asyncio.to_thread(os.open, beside, os.O_CREAT | os.O_WRONLY, 0o644)
        slots = asyncio.Semaphore(_PARTS_AT_ONCE)

        async def get(start: int) -> None:
            async with slots:
                end = min(start + _PART_BYTES, size)
                reading = (
                    first.bytes_async()
                    if start == 0
                    else obstore.get_range_async(self._store, checked_path(path), start=start, end=end)
                )
                data = await self._run("read", path, reading)
                await asyncio.to_thread(os.pwrite, descriptor, data, start)

        try:
            async with asyncio.TaskGroup() as group:
                for start in range(0, size, _PART_BYTES):
                    group.create_task(get(start))
            await asyncio.to_thread(beside.replace, target)
        except ExceptionGroup as several:
            raise several.exceptions[0] from several
        finally:
            os.close(descriptor)
            await asyncio.to_thread(beside.unlink, missing_ok=True)

    async def head(self, path: str) -> StoredObject | None:
        """What is known of a file, None when there is none."""
        try:
            return _stored_object(await self._run("read", path, obstore.head_async(self._store, checked_path(path))))
        except NotFoundError:
            return None

    async def list(self, prefix: str = "") -> AsyncIterator[StoredObject]:
        """The files below a directory, in order of their paths."""
        pages = obstore.list(self._store, checked_path(prefix) if prefix else None, chunk_size=_LIST_PAGE)
        while True:
            try:
                page = await self._run("listed", prefix, pages.__anext__())
            except StopAsyncIteration:
                return
            for found in page:
                yield _stored_object(found)

    async def delete(self, paths: Iterable[str]) -> None:
        """Remove files; those that are not there are fine."""
        gone = [checked_path(path) for path in paths]
        if gone:
            await self._again(lambda: self._run("deleted", gone[0], obstore.delete_async(self._once, gone)))

    async def delete_all(self, prefix: str) -> None:
        """Remove everything below a directory."""
        batch: list[str] = []
        async for found in self.list(prefix):
            batch.append(found.path)
            if len(batch) == _LIST_PAGE:
                await self.delete(batch)
                batch.clear()
        await self.delete(batch)

    async def tidy(self, prefix: str) -> None:
        """End uploads below a directory that a killed process began; nobody may be writing there."""
        below = f"{self.prefix}/{prefix}" if self.prefix else prefix
        await asyncio.to_thread(self._uploads.abort, checked_path(below))

    async def close(self) -> None:
        """Let calls that were cancelled come to rest: a thread of obstore that outlives Python complains on stderr."""
        if self._is_cancelled:
            await asyncio.sleep(_SETTLE_S)

    async def _again(self, attempt: Callable[[], Awaitable[T]]) -> T:
        """What obstore does not repeat when no answer came, since it cannot know that it may."""
        return await retry(attempt, self.settings.retry_timeout_ms, self._clock)

    async def _run(self, done: str, path: str, work: Awaitable[T]) -> T:
        try:
            return await work
        except asyncio.CancelledError:
            self._is_cancelled = True
            raise
        except (exceptions.BaseError, FileNotFoundError) as wrong:
            place = f"{self.url}/{path}" if path else self.url
            if (keyless := self._keys.failure) is not None:
                kind = RetriableError if isinstance(keyless, RetriableError) else DeniedError
                raise kind(ErrorCode.STORAGE, f"{place} cannot be {done}: {keyless.message}") from keyless
            raise failure(place, self.bucket, self.settings.endpoint or "AWS", done, wrong) from wrong


def _stored_object(found: ObjectMeta) -> StoredObject:
    return StoredObject(found["path"], found["size"], int(found["last_modified"].timestamp() * 1000))


def _open(bucket: str, prefix: str, settings: S3Settings, keys: Keys, retries: int) -> stores.S3Store:
    endpoint = settings.bucket_endpoint(bucket)
    return stores.S3Store(
        bucket,
        prefix=prefix or None,
        config={
            "region": settings.region,
            "virtual_hosted_style_request": not settings.path_style,
            **({"endpoint": endpoint} if endpoint else {}),
        },
        credential_provider=keys,
        client_options={
            "allow_http": True,
            "timeout": timedelta(milliseconds=settings.request_timeout_ms),
            "connect_timeout": timedelta(seconds=min(_CONNECT_TIMEOUT_S, settings.request_timeout_ms / 1000)),
        },
        retry_config={
            "max_retries": retries,
            "retry_timeout": timedelta(milliseconds=settings.retry_timeout_ms),
            "backoff": {
                "init_backoff": timedelta(milliseconds=FIRST_PAUSE_MS),
                "max_backoff": timedelta(milliseconds=longest_pause_ms(settings.retry_timeout_ms)),
                "base": 2,
            },
        },
    )


def _looked_at(source: Path) -> tuple[int, bytes | None]:
    """The size of a file, and its bytes when it goes in one piece."""
    with source.open("rb") as file:
        size = os.fstat(file.fileno()).st_size
        return size, file.read() if size <= _PART_BYTES else None


def _write_file(target: Path, data: bytes | Bytes) -> None:
    beside = beside_of(target)
    try:
        beside.write_bytes(data)
        beside.replace(target)
    finally:
        beside.unlink(missing_ok=True)


async def _paced_bytes(source: Path, size: int, pace: Pace) -> AsyncIterator[bytes]:
    position = 0
    with await asyncio.to_thread(source.open, "rb") as file:
        while position < size:
            await pace.take(min(_PART_BYTES, size - position))
            data = await asyncio.to_thread(file.read, _PART_BYTES)
            if not data:
                return
            position += len(data)
            yield data
