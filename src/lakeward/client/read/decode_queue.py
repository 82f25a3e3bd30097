"""Fetched chunks on their way through the decoder: a few ahead of the reader, handed out in order."""

from __future__ import annotations

import asyncio
from collections import deque
from typing import Generic, Protocol, TypeVar

from lakeward.client.admin.admin import known_schema
from lakeward.client.cluster.cluster import Cluster
from lakeward.client.decode.log_decoder import Chunk
from lakeward.client.forms.new_columns import warn
from lakeward.model.schema import Schema
from lakeward.model.table import TablePath

T = TypeVar("T")

#: Decoded batches are several times the size of fetched ones, so only a few are decoded before they are wanted.
_AHEAD = 4
#: Below this size a thread costs more than it saves.
_DECODE_HERE_BYTES = 32 * 1024


class ChunkDecoder(Protocol[T]):
    """Makes of a chunk what a reader wants. Called from worker threads."""

    @property
    def projection(self) -> tuple[int, ...]:
        """The columns that the server is to send, by place; none for whole rows."""
        ...

    @property
    def tells_gaps(self) -> bool:
        """Whether offsets without rows are told."""
        ...

    def unknown_schemas(self, chunk: Chunk) -> set[int]:
        """Schema ids that must be told by `learn()` before `decode()`."""
        ...

    def learn(self, schema_id: int, schema: Schema | None) -> None:
        """What a schema id stands for; None when nobody knows it."""
        ...

    def lacks(self, schema_id: int, schema: Schema) -> list[str]:
        """Columns of a newer schema that are not shown though all were to be."""
        ...

    def decode(self, chunk: Chunk) -> list[T]:
        """What the chunk holds."""
        ...


class DecodeQueue(Generic[T]):
    """First in, first out, with the decoding on worker threads."""

    def __init__(self, cluster: Cluster, path: TablePath, decoder: ChunkDecoder[T]) -> None:
        self._cluster = cluster
        self._path = path
        self._decoder = decoder
        self._chunks: deque[Chunk] = deque()
        self._jobs: deque[tuple[asyncio.Future[list[T]], int]] = deque()
        self.buffered_bytes = 0

    def __bool__(self) -> bool:
        return bool(self._chunks or self._jobs)

    def put(self, chunk: Chunk) -> None:
        """Queue a chunk."""
        self._chunks.append(chunk)
        self.buffered_bytes += len(chunk.data)

    def advance(self) -> None:
        """Start decoding as far ahead as is allowed; what is small, or of a schema not known yet, waits for `take`."""
        loop = asyncio.get_running_loop()
        while self._chunks and len(self._jobs) < _AHEAD:
            chunk = self._chunks[0]
            if len(chunk.data) < _DECODE_HERE_BYTES and not self._jobs:
                return
            if self._decoder.unknown_schemas(chunk):
                return
            self._chunks.popleft()
            job = loop.run_in_executor(self._cluster.workers, self._decoder.decode, chunk)
            self._jobs.append((job, len(chunk.data)))

    async def take(self) -> list[T]:
        """The batches of the oldest chunk; the queue must not be empty."""
        self.advance()
        if self._jobs:
            job, size = self._jobs.popleft()
            self.advance()
            try:
                return await job
            finally:
                self.buffered_bytes -= size
        chunk = self._chunks.popleft()
        self.buffered_bytes -= len(chunk.data)
        for schema_id in self._decoder.unknown_schemas(chunk):
            schema = await known_schema(self._cluster, self._path, schema_id)
            self._decoder.learn(schema_id, schema)
            if schema is not None and (new := self._decoder.lacks(schema_id, schema)):
                warn(self._path, new, "This scan does not show it; scan again from here on to see it.")
        if len(chunk.data) < _DECODE_HERE_BYTES:
            return self._decoder.decode(chunk)
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._cluster.workers, self._decoder.decode, chunk)

    def clear(self) -> None:
        """Forget everything."""
        self._chunks.clear()
        for job, _ in self._jobs:
            if not job.cancel() and not job.cancelled():
                job.exception()  # an earlier one was told, and is enough
        self._jobs.clear()
