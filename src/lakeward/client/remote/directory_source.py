"""DirectorySource: segments in a directory that this machine sees, read piece by piece.

Read, not mapped: on a mounted directory a file that expires under a mapping would end the process.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from io import FileIO
from pathlib import Path
from urllib.parse import unquote, urlsplit

from lakeward.client.remote.segment import Segment
from lakeward.errors import DeniedError, ErrorCode, NotFoundError
from lakeward.records.batch.column_sums import sums_bytes_max


class DirectorySource:
    """Nothing is kept: the machine's page cache does that better."""

    piece_bytes = 4 << 20
    gap_bytes = 16 << 10
    batch_bytes_min = 128 << 10

    def __init__(self, workers: Executor) -> None:
        self._workers = workers

    async def piece(self, segment: Segment, number: int) -> memoryview:
        """The bytes of one piece; shorter where the segment ends."""
        start = number * self.piece_bytes
        wanted = min(self.piece_bytes, segment.size_bytes - start)
        found = await self._run(_read, segment, segment.name, [(start, start + wanted)])
        if len(found) < wanted:
            raise segment.damage_error(f"it has {start + len(found)} of {segment.size_bytes} bytes")
        return found

    async def stretches(self, segment: Segment, places: Sequence[tuple[int, int]]) -> memoryview:
        """The bytes of several stretches of a segment, one behind the other; fewer where the segment ends."""
        return await self._run(_read, segment, segment.name, places)

    async def columns(self, segment: Segment) -> memoryview | None:
        """The sums of a segment's columns, None when it has none."""
        places = [(0, sums_bytes_max(segment.size_bytes))]
        try:
            return await self._run(_read, segment, segment.columns_name, places)
        except NotFoundError:
            return None

    async def _run(self, work: Callable[..., memoryview], *arguments: object) -> memoryview:
        return await asyncio.get_running_loop().run_in_executor(self._workers, work, *arguments)


def _read(segment: Segment, name: str, places: Sequence[tuple[int, int]]) -> memoryview:
    path = _path(segment, name)
    data = bytearray(sum(stop - start for start, stop in places))
    room, filled = memoryview(data), 0
    try:
        with path.open("rb", buffering=0) as file:
            for start, stop in places:
                filled += _fill(file, room[filled : filled + stop - start], start)
    except FileNotFoundError as wrong:
        raise NotFoundError(
            ErrorCode.STORAGE,
            f"The remote log segment {path} is not there. Is the server's remote.data.dir mounted on this machine?",
        ) from wrong
    except PermissionError as wrong:
        raise DeniedError(
            ErrorCode.STORAGE, f"The remote log segment {path} cannot be read: this user is not allowed to."
        ) from wrong
    except OSError as wrong:
        raise ErrorCode.STORAGE.error(f"The remote log segment {path} cannot be read: {wrong}.") from wrong
    return room[:filled].toreadonly()


def _fill(file: FileIO, room: memoryview, start: int) -> int:
    """Read into all of a room, or as much as there is; how much that was."""
    filled = 0
    file.seek(start)
    while filled < len(room) and (more := file.readinto(room[filled:])):
        filled += more
    return filled


def _path(segment: Segment, name: str) -> Path:
    parts = urlsplit(segment.directory)
    return Path(unquote(parts.path) if parts.scheme else segment.directory) / name
