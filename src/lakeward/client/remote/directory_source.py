"""DirectorySource: segments in a directory that this machine sees, read piece by piece.

Read, not mapped: on a mounted directory a file that expires under a mapping would end the process.
"""

from __future__ import annotations

import asyncio
from concurrent.futures import Executor
from pathlib import Path
from urllib.parse import unquote, urlsplit

from lakeward.client.remote.segment import Segment
from lakeward.errors import DeniedError, ErrorCode, NotFoundError


class DirectorySource:
    """Nothing is kept: the machine's page cache does that better."""

    piece_bytes = 4 << 20

    def __init__(self, workers: Executor) -> None:
        self._workers = workers

    async def piece(self, segment: Segment, number: int) -> memoryview:
        """The bytes of one piece; shorter where the segment ends."""
        start = number * self.piece_bytes
        wanted = min(self.piece_bytes, segment.size_bytes - start)
        return await asyncio.get_running_loop().run_in_executor(self._workers, _read, segment, start, wanted)


def _read(segment: Segment, start: int, wanted: int) -> memoryview:
    path = _path(segment)
    try:
        with path.open("rb", buffering=0) as file:
            file.seek(start)
            data = file.read(wanted)
            while len(data) < wanted and (more := file.read(wanted - len(data))):
                data += more
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
    if len(data) < wanted:
        raise segment.damage_error(f"it has {start + len(data)} of {segment.size_bytes} bytes")
    return memoryview(data)


def _path(segment: Segment) -> Path:
    parts = urlsplit(segment.directory)
    return Path(unquote(parts.path) if parts.scheme else segment.directory) / segment.name
