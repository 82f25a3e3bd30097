"""Pipeline: what writers of both kinds share. One sender, rows that wait for company, flush and close."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from types import TracebackType
from typing import TYPE_CHECKING, Generic, Protocol, Self, TypeVar

from lakeward.client.admin.partitions import Partitions
from lakeward.client.cluster.cluster import Cluster
from lakeward.client.cluster.writer_ids import WriterIds
from lakeward.client.write.delivery import Delivery
from lakeward.client.write.lane import Outgoing, Sealable
from lakeward.client.write.sender import Sender
from lakeward.errors import ErrorCode, LakewardError
from lakeward.model.bucket import TableBucket
from lakeward.model.table import TableInfo

if TYPE_CHECKING:
    from lakeward.client.write.batching import Destination

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)
E = TypeVar("E", bound=Sealable)


class Waiting(Protocol[T_co]):
    """Rows that wait for company, per destination."""

    def waiting(self) -> list[Destination]:
        """Destinations for which rows wait."""
        ...

    def close(self, to: Destination) -> T_co:
        """The rows that wait for this destination, as one batch."""
        ...


class Pipeline(ABC, Generic[T]):
    """Batches of one bucket are stored in the order of their writes, each once.

    After a failure nothing more is sent: every later call raises that failure.
    """

    def __init__(
        self,
        cluster: Cluster,
        ids: WriterIds,
        info: TableInfo,
        partitions: Partitions,
        delivery: Delivery,
        batching: Waiting[T],
        linger_ms: float | None = None,
    ) -> None:
        self._cluster = cluster
        self._ids = ids
        self.info = info
        self._partitions = partitions
        self._delivery = delivery
        self._waiting = batching
        self._linger_ms = cluster.settings.linger_ms if linger_ms is None else linger_ms
        self._lingering: dict[Destination, asyncio.TimerHandle] = {}
        self._writing = asyncio.Lock()
        self._opened: Sender | None = None
        self._closed = False
        self._is_promised = False

    async def __aenter__(self) -> Self:
        self.promise()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        if kind is None:
            await self.close()
        else:
            await self.abort()

    def promise(self) -> None:
        """Somebody will close it, whatever happens."""
        self._is_promised = True
        self._cluster.unclosed.discard(self)

    @property
    def written(self) -> int:
        """Rows acknowledged so far."""
        return 0 if self._opened is None else self._opened.rows

    def _counts(self) -> tuple[int, int, int]:
        """Rows, batches and bytes that were acknowledged so far."""
        sender = self._opened
        return (0, 0, 0) if sender is None else (sender.rows, sender.batches, sender.bytes)

    async def flush(self) -> None:
        """Wait until every row written so far is acknowledged; raises the first failure."""
        async with self._writing:
            await self._settle(await self._sender())

    async def _settle(self, sender: Sender) -> None:
        for to in self._waiting.waiting():
            self._close(sender, to)
        sender.pump()  # nothing more will come along
        await sender.drain()

    async def close(self) -> None:
        """Flush, then give up the writer."""
        if self._closed:
            return
        try:
            if self._opened is not None:
                await self.flush()
        finally:
            self._end()

    async def finish(self) -> None:
        """Close what nobody has closed; a failure that was raised before is not raised once more."""
        if self._opened is not None and self._opened.has_raised:
            self._end()
        else:
            await self.close()

    async def abort(self) -> None:
        """Give up without waiting for what is not acknowledged yet."""
        if self._opened is not None:
            self._opened.fail(ErrorCode.OPERATION_NOT_ATTEMPTED.error(f"The writer of {self.info.path} was aborted."))
        self._end()

    def _end(self) -> None:
        self._closed = True
        self._cluster.unclosed.discard(self)
        for timer in self._lingering.values():
            timer.cancel()
        if self._opened is not None:
            self._opened.close()

    # -- for the kinds of writers -------------------------------------------------------------------------------------

    @abstractmethod
    def _send(self, sender: Sender, to: Destination, rows: T) -> None:
        """Encode a batch and hand it to the sender."""

    def _on_start(self, writer_id: int) -> None:
        """The sender is there."""

    async def _sender(self) -> Sender:
        if self._closed:
            raise ErrorCode.OPERATION_NOT_ATTEMPTED.error(f"The writer of {self.info.path} is closed.")
        if self._opened is None:
            identity = await self._ids.borrow(self.info.path)
            self._opened = Sender(self._cluster, self.info, self._delivery, self._ids, identity)
            self._on_start(identity.writer_id)
            if not self._is_promised:
                self._cluster.unclosed.add(self)
        self._opened.raise_failure()
        return self._opened

    def _linger(self, sender: Sender) -> None:
        """Whatever waits now leaves when its time is up, even alone."""
        loop = asyncio.get_running_loop()
        for to in self._waiting.waiting():
            if to not in self._lingering:
                self._lingering[to] = loop.call_later(self._linger_ms / 1000, self._close, sender, to)

    def _close(self, sender: Sender, to: Destination) -> None:
        self._leave(sender, to, self._waiting.close(to))

    def _leave(self, sender: Sender, to: Destination, rows: T) -> None:
        timer = self._lingering.pop(to, None)
        if timer is not None:
            timer.cancel()
        try:
            self._send(sender, to, rows)
        except LakewardError as gone:  # its partition, while the rows were waiting
            sender.fail(gone)

    def _target(self, to: Destination, bucket: int) -> TableBucket:
        partition_id = None if to.partition is None else self._partitions.id_of(to.partition)
        return TableBucket(self.info.table_id, partition_id, bucket)


def submit_encoded(
    sender: Sender, target: TableBucket, partition: str | None, row_count: int, encoded: Sealable
) -> None:
    """Hand over a batch that is encoded already."""
    batch = Outgoing(row_count, encoded.size)
    sender.submit(target, partition, batch)
    sender.fill(target, batch, encoded)


def finish_encoding(sender: Sender, target: TableBucket, batch: Outgoing, done: asyncio.Future[E]) -> None:
    """Hand over what a worker thread has encoded, or fail with what it met."""
    if done.cancelled():
        return
    wrong = done.exception()
    if wrong is None:
        sender.fill(target, batch, done.result())
    elif isinstance(wrong, LakewardError):
        sender.fail(wrong)
    else:
        sender.fail(ErrorCode.INVALID_TARGET_COLUMN.error(f"The rows cannot be encoded: {wrong!r}"))
