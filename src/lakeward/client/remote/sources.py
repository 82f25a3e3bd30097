"""RemoteSegments: how one connection reads segments in file stores."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import AsyncGenerator
from concurrent.futures import Executor
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from lakeward.client.forms.settings import ClientSettings
from lakeward.client.remote.access import Ask, RemoteAccess
from lakeward.client.remote.directory_source import DirectorySource
from lakeward.client.remote.history_reader import HistoryReader
from lakeward.client.remote.object_source import ObjectSource
from lakeward.client.remote.piece_cache import release, shared_cache
from lakeward.client.remote.piece_cutter import Cut
from lakeward.client.remote.segment import segments_of
from lakeward.client.remote.segment_reader import PieceSource
from lakeward.errors import ErrorCode
from lakeward.protocol.messages.log import PbRemoteLogFetchInfo

if TYPE_CHECKING:
    from lakeward.client.decode.log_decoder import LogDecoder


class RemoteSegments:
    """Opens sources when they are first needed; nothing is asked or made for a scan that stays on the server."""

    def __init__(self, settings: ClientSettings, workers: Executor, ask: Ask) -> None:
        self._settings = settings
        self._workers = workers
        self._access = RemoteAccess(ask, settings.store_options)
        self._parent = Path(settings.tmp_dir or tempfile.gettempdir()).absolute()
        self._directory = DirectorySource(workers)
        self._opening = asyncio.Lock()
        self._objects: ObjectSource | None = None

    async def read(
        self,
        info: PbRemoteLogFetchInfo,
        slots: asyncio.Semaphore,
        end_offset: int | None = None,
        decoder: LogDecoder | None = None,
    ) -> AsyncGenerator[list[Cut], None]:
        """The batches of the segments an answer points to, up to the segment of an offset; close what is returned.

        A decoder that wants some columns may get batches of these alone.
        """
        source = await self._source(info.remote_log_tablet_dir)
        settings = self._settings
        reader = HistoryReader(
            source,
            slots,
            self._workers,
            settings.segments_ahead,
            decoder,
            end_offset=end_offset,
            check_crc=settings.check_crc,
        )
        return reader.read(segments_of(info, end_offset))

    async def close(self) -> None:
        """Let go of stores and files."""
        await self._access.close()
        if self._objects is not None:
            self._objects = None
            release(self._parent)

    async def _source(self, url: str) -> PieceSource:
        scheme = urlsplit(url).scheme
        if scheme in {"", "file"}:
            return self._directory
        if scheme in {"s3", "s3a"}:
            async with self._opening:
                self._objects = self._objects or await self._open_source()
                return self._objects
        raise ErrorCode.UNSUPPORTED_VERSION.error(
            f"Part of this log lives in {url}; this client reads directories, s3:// and s3a:// only."
        )

    async def _open_source(self) -> ObjectSource:
        loop = asyncio.get_running_loop()
        cache = await loop.run_in_executor(self._workers, shared_cache, self._parent, self._settings.remote_cache_bytes)
        return ObjectSource(self._access, cache, self._workers, self._settings.downloads_at_once)
