"""AsyncWriter: rows in, acknowledgements out, many batches under way."""

from __future__ import annotations

import asyncio
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from lakeward.client.cluster import Cluster
from lakeward.client.lane import Outgoing
from lakeward.client.partitions import Partitions
from lakeward.client.results import AppendResult
from lakeward.client.sender import Sender
from lakeward.client.writer_ids import WriterIds
from lakeward.errors import ErrorCode, LakewardError
from lakeward.model.bucket import TableBucket
from lakeward.model.table import TableInfo
from lakeward.options.table import LOG_COMPRESSION, LOG_FORMAT, LOG_ZSTD_LEVEL, statistics_columns

if TYPE_CHECKING:
    import pyarrow as pa

    from lakeward.client.batching import Destination
    from lakeward.client.routing import Router
    from lakeward.records.log_batch_builder import EncodedRows, LogBatchBuilder

#: Below this size a thread costs more than it saves.
_ENCODE_HERE_BYTES = 32 * 1024
#: Where the table names no level. Columns as Arrow lays them out gain nothing from level 3 (measured: 0.1 % larger than
#: at level 2), and it costs a fifth more time.
_ZSTD_LEVEL = 2


class AsyncWriter:
    """Pipelined appends to one table. Batches of one bucket are stored in the order of `write()`, each once.

    After a failure nothing more is sent: every later call raises that failure.
    """

    def __init__(
        self,
        cluster: Cluster,
        ids: WriterIds,
        info: TableInfo,
        router: Router,
        partitions: Partitions,
        *,
        batch_rows: int | None = None,
        batch_bytes: int | None = None,
        linger_ms: float | None = None,
    ) -> None:
        from lakeward.client.batching import Batching

        _check_writable(info)
        self._cluster = cluster
        self._ids = ids
        self.info = info
        self._router = router
        self._partitions = partitions
        self._linger_ms = cluster.settings.linger_ms if linger_ms is None else linger_ms
        self._batching = Batching(batch_bytes or cluster.settings.batch_bytes, batch_rows)
        self._lingering: dict[Destination, asyncio.TimerHandle] = {}
        self._writing = asyncio.Lock()
        self._opened: Sender | None = None
        self._closed = False
        self._builder = _builder_for(info)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        if kind is None:
            await self.close()
        else:
            await self.abort()

    @property
    def written(self) -> int:
        """Rows acknowledged so far."""
        return 0 if self._opened is None else self._opened.rows

    def result(self) -> AppendResult:
        """What has been acknowledged so far."""
        sender = self._opened
        return AppendResult(0, 0, 0) if sender is None else AppendResult(sender.rows, sender.batches, sender.bytes)

    async def write(self, data: Any) -> None:
        """Queue rows; waits while too much is in flight. Raises the first failure of earlier rows.

        Rows that are not Arrow yet are converted, and iterables iterated, on a worker thread.
        """
        from lakeward.client.data_forms import batches_of, is_quick

        async with self._writing:
            sender = await self._sender()
            batches = batches_of(data, self.info.schema)
            loop = asyncio.get_running_loop()
            while True:
                if is_quick(data):
                    batch = next(batches, None)
                else:
                    batch = await loop.run_in_executor(self._cluster.workers, next, batches, None)
                if batch is None:
                    return
                await sender.settled(self._cluster.settings.buffer_bytes)
                await self._route(sender, batch)

    async def flush(self) -> None:
        """Wait until every row written so far is acknowledged; raises the first failure."""
        async with self._writing:
            sender = await self._sender()
            for to in self._batching.waiting():
                self._send(sender, to, self._batching.close(to))
            await sender.settled()

    async def close(self) -> None:
        """Flush, then give up the writer."""
        if self._closed:
            return
        try:
            if self._opened is not None:
                await self.flush()
        finally:
            self._end()

    async def abort(self) -> None:
        """Give up without waiting for what is not acknowledged yet."""
        if self._opened is not None:
            self._opened.fail(ErrorCode.OPERATION_NOT_ATTEMPTED.error(f"The writer of {self.info.path} was aborted."))
        self._end()

    def _end(self) -> None:
        self._closed = True
        for timer in self._lingering.values():
            timer.cancel()
        if self._opened is not None:
            self._opened.close()

    # -- on the way ---------------------------------------------------------------------------------------------------

    async def _sender(self) -> Sender:
        if self._closed:
            raise ErrorCode.OPERATION_NOT_ATTEMPTED.error(f"The writer of {self.info.path} is closed.")
        if self._opened is None:
            identity = await self._ids.borrow(self.info.path)
            self._opened = Sender(self._cluster, self.info, self._ids, identity)
            self._router.start_at(identity.writer_id)
        self._opened.raise_failure()
        return self._opened

    async def _route(self, sender: Sender, batch: pa.RecordBatch) -> None:
        for to, rows in self._router.route(batch):
            await self._partitions.ensure(to.partition)
            for full in self._batching.add(to, rows):
                self._send(sender, to, full)
        self._linger(sender)

    def _linger(self, sender: Sender) -> None:
        loop = asyncio.get_running_loop()
        for to in self._batching.waiting():
            if to not in self._lingering:
                self._lingering[to] = loop.call_later(self._linger_ms / 1000, self._lingered, sender, to)

    def _lingered(self, sender: Sender, to: Destination) -> None:
        if to in self._batching.waiting():
            self._send(sender, to, self._batching.close(to))

    def _send(self, sender: Sender, to: Destination, rows: pa.RecordBatch) -> None:
        timer = self._lingering.pop(to, None)
        if timer is not None:
            timer.cancel()
        partition_id = None if to.partition is None else self._partitions.id_of(to.partition)
        bucket = self._router.next_bucket(to.partition) if to.bucket is None else to.bucket
        target = TableBucket(self.info.table_id, partition_id, bucket)
        batch = Outgoing(rows.num_rows, rows.nbytes)
        if batch.raw_bytes < _ENCODE_HERE_BYTES:
            try:
                encoded = self._builder.encode(rows)
            except LakewardError as wrong:
                sender.fail(wrong)
                return
            sender.submit(target, to.partition, batch)
            sender.encoded(target, batch, encoded)
            return
        sender.submit(target, to.partition, batch)
        loop = asyncio.get_running_loop()
        work = loop.run_in_executor(self._cluster.workers, self._builder.encode, rows)
        work.add_done_callback(lambda done: _encoded(sender, target, batch, done))


def _encoded(sender: Sender, target: TableBucket, batch: Outgoing, done: asyncio.Future[EncodedRows]) -> None:
    if done.cancelled():
        return
    wrong = done.exception()
    if wrong is None:
        sender.encoded(target, batch, done.result())
    elif isinstance(wrong, LakewardError):
        sender.fail(wrong)
    else:
        sender.fail(ErrorCode.INVALID_TARGET_COLUMN.error(f"The rows cannot be encoded: {wrong!r}"))


def _builder_for(info: TableInfo) -> LogBatchBuilder:
    from lakeward.records.log_batch_builder import LogBatchBuilder
    from lakeward.records.statistics import STATISTICS_TYPES

    properties, schema = info.descriptor.properties, info.schema
    named = statistics_columns(properties) or ()
    if named == ("*",):
        named = tuple(c.name for c in schema.columns if c.type.root in STATISTICS_TYPES)
    return LogBatchBuilder(
        schema,
        LOG_FORMAT.read(properties),
        LOG_COMPRESSION.read(properties),
        LOG_ZSTD_LEVEL.read(properties) if LOG_ZSTD_LEVEL.key in properties else _ZSTD_LEVEL,
        [schema.positions[name] for name in named],
    )


def _check_writable(info: TableInfo) -> None:
    if info.descriptor.has_primary_key:
        raise ErrorCode.UNSUPPORTED_VERSION.error(
            f"{info.path} has a primary key; append is for log tables, and upserts are not there yet."
        )
