"""AsyncUpserter: rows to put and keys to delete in, acknowledgements out, many batches under way."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from lakeward.client.admin.partitions import Partitions
from lakeward.client.cluster.cluster import Cluster
from lakeward.client.cluster.writer_ids import WriterIds
from lakeward.client.forms.data_forms import is_quick
from lakeward.client.forms.results import UpsertResult
from lakeward.client.keys.conventions import Bucketing
from lakeward.client.keys.table_keys import TableKeys
from lakeward.client.upsert.change_batching import ChangeBatching
from lakeward.client.upsert.changes import ChangeEncoder, EncodedChanges, Piece, slices
from lakeward.client.upsert.written_columns import WrittenColumns
from lakeward.client.write.delivery import KvDelivery
from lakeward.client.write.lane import Outgoing
from lakeward.client.write.pipeline import Pipeline, finish_encoding, submit_encoded
from lakeward.client.write.sender import Sender
from lakeward.model.table import TableInfo

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from lakeward.client.write.batching import Destination

    Routed = list[tuple[Destination, Piece]]

#: Below this size a thread costs more than it saves.
_ENCODE_HERE_BYTES = 32 * 1024


class AsyncUpserter(Pipeline["list[Piece]"]):
    """Pipelined changes of one primary key table. Changes of one key are applied in the order of the calls, each once.

    After a failure nothing more is sent: every later call raises that failure.
    """

    def __init__(
        self,
        cluster: Cluster,
        ids: WriterIds,
        info: TableInfo,
        partitions: Partitions,
        keys: TableKeys,
        bucketing: Callable[[], Awaitable[Bucketing]],
        columns: WrittenColumns,
        *,
        batch_rows: int | None = None,
        batch_bytes: int | None = None,
        linger_ms: float | None = None,
    ) -> None:
        self.written_columns = columns
        self._keys = keys
        self._bucketing = bucketing
        self._encoder: ChangeEncoder | None = None
        self._batching = ChangeBatching(batch_bytes or cluster.settings.batch_bytes, batch_rows)
        delivery = KvDelivery(info, self.written_columns.positions, keys.check_version)
        super().__init__(cluster, ids, info, partitions, delivery, self._batching, linger_ms)

    def result(self) -> UpsertResult:
        """What has been acknowledged so far."""
        return UpsertResult(*self._counts())

    async def upsert(self, data: Any) -> None:
        """Queue rows to put; waits while too much is in flight. Raises the first failure of earlier changes.

        Rows that are not Arrow yet are converted, and iterables iterated, on a worker thread.
        """
        batches = self.written_columns.batches(data)
        loop = asyncio.get_running_loop()
        async with self._writing:
            await self._sender()
            while True:
                if is_quick(data):
                    batch = next(batches, None)
                else:
                    batch = await loop.run_in_executor(self._cluster.workers, next, batches, None)
                if batch is None:
                    return
                await self._take_all(batch, ChangeEncoder.upserts)

    async def upsert_batch(self, batch: pa.RecordBatch) -> None:
        """Queue rows that `written_columns` has made."""
        async with self._writing:
            await self._take_all(batch, ChangeEncoder.upserts)

    async def delete(self, keys: Any) -> None:
        """Queue keys to delete. With `columns`, only those columns of the rows are set to NULL."""
        await self.delete_batch(self.key_batch(keys))

    def key_batch(self, keys: Any) -> pa.RecordBatch:
        """The keys as `delete_batch` takes them."""
        self.written_columns.check_delete()
        return self._keys.forms.batch(keys)

    async def delete_batch(self, keys: pa.RecordBatch) -> None:
        """Queue keys to delete that `key_batch` has made."""
        async with self._writing:
            await self._take_all(keys, ChangeEncoder.deletes)

    async def change_batch(self, rows: pa.RecordBatch, is_put: NDArray[np.bool_]) -> None:
        """Queue rows of all columns in their order: some to put, of the others the keys to delete."""
        self.written_columns.check_delete()
        sender = await self._sender()
        async with self._writing:
            at = 0
            for piece in slices(rows):
                await sender.drain(self._cluster.settings.buffer_bytes)
                await self._take(sender, piece, self._change_encoder(is_put[at : at + piece.num_rows]))
                at += piece.num_rows

    def _change_encoder(self, is_put: NDArray[np.bool_]) -> Callable[[ChangeEncoder, pa.RecordBatch], Routed]:
        def encode(encoder: ChangeEncoder, rows: pa.RecordBatch) -> Routed:
            puts = list(self.written_columns.batches(rows.filter(pa.array(is_put))))
            whole = puts[0] if len(puts) == 1 else pa.RecordBatch.from_pylist([], schema=self.written_columns.arrow)
            return encoder.puts_and_deletes(self._keys.forms.batch(rows), is_put, whole)

        return encode

    # -- on the way ---------------------------------------------------------------------------------------------------

    async def _take_all(self, batch: pa.RecordBatch, encode: Callable[[ChangeEncoder, pa.RecordBatch], Routed]) -> None:
        sender = await self._sender()
        for rows in slices(batch):
            await sender.drain(self._cluster.settings.buffer_bytes)
            await self._take(sender, rows, encode)

    async def _take(
        self, sender: Sender, rows: pa.RecordBatch, encode: Callable[[ChangeEncoder, pa.RecordBatch], Routed]
    ) -> None:
        if self._encoder is None:
            self._encoder = ChangeEncoder(self.info, self._keys, await self._bucketing())
        if rows.nbytes < _ENCODE_HERE_BYTES:
            routed = encode(self._encoder, rows)
        else:
            loop = asyncio.get_running_loop()
            routed = await loop.run_in_executor(self._cluster.workers, encode, self._encoder, rows)
        for to, piece in routed:
            await self._partitions.ensure(to.partition)
            for full in self._batching.add(to, piece):
                self._leave(sender, to, full)
        self._linger(sender)

    def _send(self, sender: Sender, to: Destination, rows: list[Piece]) -> None:
        assert to.bucket is not None
        target = self._target(to, to.bucket)
        batch = Outgoing(sum(len(p.which) for p in rows), sum(p.bytes for p in rows))
        if batch.raw_bytes < _ENCODE_HERE_BYTES:
            encoded = EncodedChanges(self.info.schema_id, rows)
            submit_encoded(sender, target, to.partition, batch.row_count, encoded)
            return
        sender.submit(target, to.partition, batch)
        loop = asyncio.get_running_loop()
        work = loop.run_in_executor(self._cluster.workers, EncodedChanges, self.info.schema_id, rows)
        work.add_done_callback(lambda done: finish_encoding(sender, target, batch, done))
