"""DirectorySource: segments in a directory that this machine sees, mapped piece by piece."""

from __future__ import annotations

import asyncio
import mmap
from concurrent.futures import Executor
from pathlib import Path
from urllib.parse import unquote, urlsplit

from lakeward.client.remote.segment import Segment
from lakeward.errors import DeniedError, ErrorCode, NotFoundError


class DirectorySource:
    """Nothing is copied: a piece is a mapping, and memory is the page cache's."""

    piece_bytes = 16 << 20

    def __init__(self, workers: Executor) -> None:
        self._workers = workers

    async def piece(self, segment: Segment, number: int) -> memoryview:
        """The bytes of one piece; shorter where the segment ends."""
        start = number * self.piece_bytes
        wanted = min(self.piece_bytes, segment.size_bytes - start)
        return await asyncio.get_running_loop().run_in_executor(self._workers, _mapped, segment, start, wanted)


def _mapped(segment: Segment, start: int, wanted: int) -> memoryview:
    path = _path(segment)
    try:
        with path.open("rb") as file:
            size = file.seek(0, 2)
            if size < start + wanted:
                raise ErrorCode.CORRUPT_RECORD.error(
                    f"The remote log segment {path} is damaged: it has {size} of {segment.size_bytes} bytes."
                )
            mapped = mmap.mmap(file.fileno(), wanted, access=mmap.ACCESS_READ, offset=start)
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
    mapped.madvise(mmap.MADV_WILLNEED)
    return memoryview(mapped)


def _path(segment: Segment) -> Path:
    parts = urlsplit(segment.directory)
    return Path(unquote(parts.path) if parts.scheme else segment.directory) / segment.name
