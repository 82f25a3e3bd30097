"""AsyncWriter: rows in, acknowledgements out, many batches under way."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from lakeward.client.admin.admin import table_info
from lakeward.client.admin.partitions import Partitions
from lakeward.client.cluster.cluster import Cluster
from lakeward.client.cluster.writer_ids import WriterIds
from lakeward.client.forms.results import AppendResult
from lakeward.client.write.delivery import LogDelivery
from lakeward.client.write.lane import Outgoing
from lakeward.client.write.pipeline import Pipeline, finish_encoding, submit_encoded
from lakeward.client.write.sender import Sender
from lakeward.errors import ErrorCode, LakewardError
from lakeward.model.table import TableInfo
from lakeward.options.table import LOG_COMPRESSION, LOG_FORMAT, LOG_ZSTD_LEVEL, statistics_columns
from lakeward.records.batch.statistics import STATISTICS_TYPES

if TYPE_CHECKING:
    import pyarrow as pa

    from lakeward.client.write.batching import Destination
    from lakeward.client.write.routing import Router
    from lakeward.records.arrow.log_batch_builder import LogBatchBuilder

#: Below this size a thread costs more than it saves.
_ENCODE_HERE_BYTES = 32 * 1024
#: Where the table names no level. Columns as Arrow lays them out gain nothing from level 3 (measured: 0.1 % larger than
#: at level 2), and it costs a fifth more time.
_ZSTD_LEVEL = 2


class AsyncWriter(Pipeline["pa.RecordBatch"]):
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
        from lakeward.client.write.batching import Batching

        _check_writable(info)
        self._router = router
        self._batching = Batching(batch_bytes or cluster.settings.batch_bytes, batch_rows)
        self._builder = builder_for(info)
        super().__init__(cluster, ids, info, partitions, LogDelivery(info), self._batching, linger_ms)

    def result(self) -> AppendResult:
        """What has been acknowledged so far."""
        return AppendResult(*self._counts())

    async def write(self, data: Any) -> None:
        """Queue rows; waits while too much is in flight. Raises the first failure of earlier rows.

        Rows that are not Arrow yet are converted, and iterables iterated, on a worker thread.
        """
        from lakeward.client.forms.data_forms import is_quick

        async with self._writing:
            sender = await self._sender()
            batches = await self._fitting(sender, data)
            loop = asyncio.get_running_loop()
            while True:
                if is_quick(data):
                    batch = next(batches, None)
                else:
                    batch = await loop.run_in_executor(self._cluster.workers, next, batches, None)
                if batch is None:
                    return
                await sender.drain(self._cluster.settings.buffer_bytes)
                await self._route(sender, batch)

    # -- on the way ---------------------------------------------------------------------------------------------------

    async def _fitting(self, sender: Sender, data: Any) -> Iterator[pa.RecordBatch]:
        """The rows as batches that fit the table, which is asked again when they have a column that it did not."""
        from lakeward.client.forms.data_forms import batches_of, names_in

        unknown = set(names_in(data)) - set(self.info.schema.names)
        if unknown:
            now = await table_info(self._cluster, self.info.path)
            if now.table_id == self.info.table_id and unknown <= set(now.schema.names):
                await self._settle(sender)  # what is on its way has the earlier schema
                self.info, self._builder = now, builder_for(now)
                sender.follow(now)
        return batches_of(data, self.info.schema)

    def _on_start(self, writer_id: int) -> None:
        self._router.start_at(writer_id)

    async def _route(self, sender: Sender, batch: pa.RecordBatch) -> None:
        for to, rows in self._router.route(batch):
            await self._partitions.ensure(to.partition)
            for full in self._batching.add(to, rows):
                self._leave(sender, to, full)
        self._linger(sender)

    def _send(self, sender: Sender, to: Destination, rows: pa.RecordBatch) -> None:
        target = self._target(to, self._router.next_bucket(to.partition) if to.bucket is None else to.bucket)
        if rows.nbytes < _ENCODE_HERE_BYTES:
            try:
                encoded = self._builder.encode(rows)
            except LakewardError as wrong:
                sender.fail(wrong)
            else:
                submit_encoded(sender, target, to.partition, rows.num_rows, encoded)
            return
        batch = Outgoing(rows.num_rows, rows.nbytes)
        sender.submit(target, to.partition, batch)
        loop = asyncio.get_running_loop()
        work = loop.run_in_executor(self._cluster.workers, self._builder.encode, rows)
        work.add_done_callback(lambda done: finish_encoding(sender, target, batch, done))


def builder_for(info: TableInfo) -> LogBatchBuilder:
    """What encodes the rows of a log table, as its properties say."""
    from lakeward.records.arrow.log_batch_builder import LogBatchBuilder

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
            f"{info.path} has a primary key; append() is for log tables, upsert() for this one."
        )
