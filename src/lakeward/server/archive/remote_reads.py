"""RemoteReads: questions whose answer, or part of it, is in remote storage.

A fetch is told where the segments are; the client reads them itself. What must be looked up in the store first is
looked up beside the event loop, and whoever asked is woken when it is here.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable

from lakeward.errors import ErrorCode, LakewardError
from lakeward.model.bucket import TableBucket
from lakeward.protocol.messages.log import PbRemoteLogFetchInfo, PbRemoteLogSegment
from lakeward.remote.formats.layout import LOG, segment_file
from lakeward.remote.formats.log_manifest import LogManifest, RemoteSegment
from lakeward.remote.stores.store import RemoteStore
from lakeward.server.archive.remote_indexes import RemoteIndexes
from lakeward.server.archive.remote_logs import RemoteLogs

_log = logging.getLogger(__name__)
#: How many segments a client is told of at a time; it asks again after the last.
_SEGMENTS_TOLD_MAX = 64
_ANY_OFFSET = 1 << 62


class StillLoadingError(Exception):
    """What is needed for an answer is on its way; the bucket's waiters will be woken."""


class RemoteReads:
    """Reads what `RemoteLogs` knows of."""

    def __init__(
        self, logs: RemoteLogs, indexes: RemoteIndexes, store: RemoteStore, wake: Callable[[TableBucket], None]
    ) -> None:
        self._logs = logs
        self._indexes = indexes
        self._store = store
        self._wake = wake
        self._work: set[asyncio.Task[None]] = set()
        self._failed: dict[TableBucket, LakewardError] = {}
        self._loading: set[TableBucket] = set()

    def start_offset(self, bucket: TableBucket, local_start_offset: int) -> int:
        """The first offset that can be read, here or there."""
        return self._logs.start_offset(bucket, local_start_offset)

    # -- fetches

    def fetch_info(
        self, bucket: TableBucket, offset: int, local_start_offset: int, *, remote_first: bool, time_is_up: bool
    ) -> PbRemoteLogFetchInfo | None:
        """Where a client finds an offset, None when remote storage has it not or it had better be read from here.

        Raises StillLoadingError when the answer will be there soon, unless time is up.
        """
        pointer = self._logs.pointers.get(bucket)
        if pointer is None or pointer.remote_log_start_offset is None:
            return None
        is_local = offset >= local_start_offset
        if (is_local and not remote_first) or not pointer.remote_log_start_offset <= offset:
            return None
        if offset >= pointer.remote_log_end_offset:
            return None
        manifest = self._logs.peek(bucket)
        if manifest is None:
            raise self._not_yet(bucket, offset, time_is_up=time_is_up)
        if not manifest.covers(offset):
            return None
        before = _ANY_OFFSET if remote_first else local_start_offset
        segments = manifest.contiguous_from(offset, before, _SEGMENTS_TOLD_MAX)
        return PbRemoteLogFetchInfo(
            remote_log_tablet_dir=self._logs.url(manifest.place.log),
            partition_name=manifest.place.partition,
            remote_log_segments=tuple(_segment_message(segment) for segment in segments),
            first_start_pos=self._position(bucket, manifest, segments[0], offset, time_is_up=time_is_up),
        )

    def _not_yet(self, bucket: TableBucket, offset: int, *, time_is_up: bool) -> Exception:
        wrong = self._failed.pop(bucket, None)
        if wrong is not None:
            return wrong
        if time_is_up:
            return ErrorCode.LOG_STORAGE.error(
                f"Offset {offset} of {bucket} is in remote storage, which does not answer; try again."
            )
        self._load(bucket, lambda: self._logs.manifest(bucket))
        return StillLoadingError()

    def _position(
        self, bucket: TableBucket, manifest: LogManifest, segment: RemoteSegment, offset: int, *, time_is_up: bool
    ) -> int:
        """Where to begin in the first file; at its start if need be, for clients skip what they did not ask for."""
        if offset == segment.start_offset:
            return 0
        index = self._indexes.peek(segment)
        if index is not None:
            return index.position_before(offset - segment.start_offset)
        if time_is_up or self._failed.pop(bucket, None) is not None:
            return 0
        self._load(bucket, lambda: self._indexes.get(manifest.place.log, segment))
        raise StillLoadingError

    def _load(self, bucket: TableBucket, loading: Callable[[], Awaitable[object]]) -> None:
        if bucket in self._loading:
            return
        self._loading.add(bucket)

        async def load() -> None:
            try:
                await loading()
            except LakewardError as wrong:
                self._failed[bucket] = wrong
            except Exception:  # noqa: BLE001 - whoever waits must be told
                _log.exception("what is remote of %s could not be read", bucket)
                self._failed[bucket] = ErrorCode.LOG_STORAGE.error(f"What is remote of {bucket} could not be read.")
            finally:
                self._loading.discard(bucket)
            self._wake(bucket)

        task = asyncio.get_running_loop().create_task(load())
        self._work.add(task)
        task.add_done_callback(self._work.discard)

    # -- other questions

    def begins_before(self, bucket: TableBucket, local_start_offset: int) -> bool:
        """Whether remote storage has rows that are no longer here."""
        return self._logs.start_offset(bucket, local_start_offset) < local_start_offset

    async def offset_of_time(self, bucket: TableBucket, time_ms: int, local_start_offset: int) -> int | None:
        """An offset at or a little before the first batch appended at or after a time; None if that one is here."""
        manifest = await self._logs.manifest(bucket)
        segment = manifest.first_at_or_after(time_ms)
        if segment is None or segment.logical_start_offset >= local_start_offset:
            return None
        index = await self._indexes.get(manifest.place.log, segment)
        found = segment.start_offset + index.time_before(time_ms)[1]
        return max(segment.logical_start_offset, min(found, segment.logical_end_offset))

    async def read(self, bucket: TableBucket, offset: int, local_start_offset: int, bytes_max: int) -> list[bytes]:
        """The batches from an offset on up to where the local log begins, as long as they fit."""
        manifest = await self._logs.manifest(bucket)
        records: list[bytes] = []
        offset = max(offset, manifest.start_offset or 0)
        while offset < local_start_offset and manifest.covers(offset) and bytes_max > 0:
            segment = manifest.segments[manifest.place_of(offset)]
            index = await self._indexes.get(manifest.place.log, segment)
            start = index.position_before(offset - segment.start_offset)
            end = min(segment.size_bytes, start + bytes_max)
            path = segment_file(manifest.place.log, segment.segment_id, segment.start_offset, LOG)
            data = await self._store.get_range(path, start, end)
            records.append(data)
            bytes_max -= len(data)
            offset = segment.logical_end_offset
        return records

    async def stop(self) -> None:
        """Let go of what is under way."""
        for task in list(self._work):
            task.cancel()
        await asyncio.gather(*self._work, return_exceptions=True)


def _segment_message(segment: RemoteSegment) -> PbRemoteLogSegment:
    return PbRemoteLogSegment(
        remote_log_segment_id=segment.segment_id,
        remote_log_start_offset=segment.start_offset,
        remote_log_end_offset=segment.end_offset,
        segment_size_in_bytes=segment.size_bytes,
        max_timestamp=segment.time_ms_max,
    )
