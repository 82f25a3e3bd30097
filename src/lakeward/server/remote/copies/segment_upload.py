"""One closed segment on its way into the store: its files under a new id, or nothing."""

from __future__ import annotations

import asyncio

from lakeward.errors import ErrorCode
from lakeward.remote.formats.layout import COLUMNS, INDEX, LOG, TIME_INDEX, WRITERS, segment_file
from lakeward.remote.formats.log_manifest import RemoteSegment
from lakeward.remote.stores.pace import Pace
from lakeward.remote.stores.store import RemoteStore
from lakeward.storage.log.held_segment import HeldSegment


async def upload(
    store: RemoteStore, log_directory: str, segment_id: str, held: HeldSegment, pace: Pace | None
) -> RemoteSegment:
    """Copy a segment with its indexes, the sums of its columns, and what its writers had done. Nothing names it yet."""

    def path(offset: int, suffix: str) -> str:
        return segment_file(log_directory, segment_id, offset, suffix)

    start, end = held.base_offset, held.end_offset
    await asyncio.to_thread(held.sync)
    columns = await asyncio.to_thread(held.checked_columns)
    offsets, times = await asyncio.to_thread(held.index_files)
    writers = await asyncio.to_thread(held.writers)
    work = [
        store.put_file(path(start, LOG), held.path, pace=pace),
        store.put(path(start, INDEX), offsets),
        store.put(path(start, TIME_INDEX), times),
    ]
    if writers is not None:
        work.append(store.put(path(end, WRITERS), writers))
    if columns is not None:
        work.append(store.put(path(start, COLUMNS), columns))
    done = await asyncio.gather(*work, return_exceptions=True)
    for one in done:
        if isinstance(one, BaseException):
            raise one
    if done[0] != held.size_bytes:
        raise ErrorCode.LOG_STORAGE.error(
            f"Of the segment {path(start, LOG)} {done[0]} bytes arrived and not {held.size_bytes}."
        )
    return RemoteSegment.whole(segment_id, start, end, held.time_ms_max, held.size_bytes)
