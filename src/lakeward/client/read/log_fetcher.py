"""The fetch loop beneath a scan: several answers under way, decoding on threads, bounded memory.

    subscribe → mending → idle → in flight → idle …        a bucket's cursor
                   ↑______________________|  the leader moved or the connection broke

Cursors that are behind are fetched at once, spread over a few requests per server so that one answer is received while
the one before it is decoded. Cursors that have caught up share a request that the server parks until there is news.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Iterable
from types import TracebackType
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar

from lakeward.client.admin.offsets import Place
from lakeward.client.cluster.cluster import Cluster
from lakeward.client.decode.batch_cutter import cut
from lakeward.client.decode.log_decoder import Chunk, LogDecoder
from lakeward.client.forms.damage import Damage
from lakeward.client.read.cursor import Cursor
from lakeward.client.read.cursor_mender import CursorMender
from lakeward.client.read.damage_probe import behind
from lakeward.client.read.decode_queue import ChunkDecoder, DecodeQueue
from lakeward.client.read.filter_message import filter_message
from lakeward.client.read.remote_reads import RemoteReads
from lakeward.errors import CorruptError, ErrorCode, LakewardError, RetriableError
from lakeward.model.table import TableInfo
from lakeward.protocol.api import Api
from lakeward.protocol.messages.log import (
    FetchLogRequest,
    PbFetchLogReqForBucket,
    PbFetchLogReqForTable,
    PbFetchLogRespForBucket,
    PbRemoteLogFetchInfo,
)
from lakeward.records.batch.batch_header import BatchHeader
from lakeward.rpc.channel import Channel

if TYPE_CHECKING:
    from lakeward.client.remote.piece_cutter import Cut
    from lakeward.records.batch.predicate import Predicate

T = TypeVar("T")

_CLIENT = -1
_BULK_REQUESTS = 4
_TAIL_REQUESTS = 8
#: No new fetch starts while this much is fetched and not yet handed out.
_BUFFERED_BYTES_MAX = 32 * 1024 * 1024
_STARVED_MS = 20
_ANSWER_GRACE_MS = 30_000
#: Errors of a server that may be over when it is asked for whole rows.
_NOT_PROJECTED = {
    ErrorCode.INVALID_COLUMN_PROJECTION,
    ErrorCode.SCHEMA_NOT_EXIST,
    ErrorCode.CORRUPT_RECORD,
    ErrorCode.CORRUPT_MESSAGE,
}


class LogFetcher(Generic[T]):
    """Reads the subscribed buckets; an async iterator of what its decoder makes, and a context that cleans up."""

    def __init__(
        self,
        cluster: Cluster,
        info: TableInfo,
        decoder: ChunkDecoder[T],
        *,
        follow: bool,
        where: Predicate | None = None,
        damage: Damage | None = None,
    ) -> None:
        self._cluster = cluster
        self._damage = damage or Damage(info.path)
        self._info = info
        self._decoder = decoder
        self._follow = follow
        self._filter = None if where is None else filter_message(where, info.schema)
        self._loop = asyncio.get_running_loop()
        self._mender = CursorMender(cluster, info, self._on_mend, self.fail, self._on_drop)
        self._active = 0
        self._idle: dict[Cursor, None] = {}
        self._bulk: dict[Channel, int] = {}
        self._tail: dict[Channel, int] = {}
        self._asked: set[asyncio.Future[Any]] = set()
        self._queue = DecodeQueue(cluster, info.path, decoder)
        self._remote = RemoteReads(cluster, self._take_remote, decoder if isinstance(decoder, LogDecoder) else None)
        self._room = asyncio.Event()
        self._ready: deque[T] = deque()
        self._tasks: set[asyncio.Task[None]] = set()
        self._pumping = False
        self._news: asyncio.Future[None] | None = None
        self._failure: LakewardError | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        self._mender.close()
        for task in self._tasks:
            task.cancel()
        for answer in self._asked:
            answer.cancel()
        self._idle.clear()
        self._queue.clear()

    def subscribe(self, place: Place, start: int, end: int | None) -> None:
        """Read a bucket from an offset up to, not including, another; None reads on for ever."""
        cursor = Cursor(place, start, end)
        if not cursor.done:
            self._active += 1
            self._mender.mend(cursor)

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> T:
        while not self._ready:
            if self._queue:
                self._ready.extend(await self._queue.take())
                if not self._is_full:
                    self._room.set()
                self._pump_soon()
            elif self._failure is not None:
                raise self._failure
            elif not self._active and not self._follow:
                raise StopAsyncIteration
            else:
                await self._wait_for_news()
        return self._ready.popleft()

    # -- asking -------------------------------------------------------------------------------------------------------

    def _on_mend(self, cursor: Cursor) -> None:
        self._idle[cursor] = None
        self._pump_soon()

    def _on_drop(self, cursor: Cursor) -> None:
        """A partition that is gone has nothing left to follow; a bounded scan must not pass over it."""
        if self._follow:
            self._active -= 1
        else:
            self.fail(
                ErrorCode.PARTITION_NOT_EXISTS.error(
                    f"Partition {cursor.place.id.partition} of {self._info.path} was dropped while it was read."
                )
            )

    @property
    def _is_full(self) -> bool:
        return self._queue.buffered_bytes >= _BUFFERED_BYTES_MAX

    def _pump_soon(self) -> None:
        if not self._pumping:
            self._pumping = True
            self._loop.call_soon(self._pump)

    def _pump(self) -> None:
        self._pumping = False
        if self._is_full or self._failure is not None:
            return
        behind: dict[Channel, list[Cursor]] = {}
        caught_up: dict[Channel, list[Cursor]] = {}
        for cursor in list(self._idle):
            if cursor.channel is None or cursor.channel.closed:
                del self._idle[cursor]
                self._mender.mend(cursor)
            else:
                (caught_up if cursor.caught_up else behind).setdefault(cursor.channel, []).append(cursor)
        for channel, cursors in behind.items():
            free = _BULK_REQUESTS - self._bulk.get(channel, 0)
            if free > 0:
                share = -(-len(cursors) // free)
                for at in range(0, len(cursors), share):
                    self._ask(channel, cursors[at : at + share], self._bulk, wait_ms=0)
        for channel, cursors in caught_up.items():
            if self._tail.get(channel, 0) < _TAIL_REQUESTS:
                self._ask(channel, cursors, self._tail, wait_ms=self._cluster.settings.fetch_wait_ms)

    def _ask(self, channel: Channel, cursors: list[Cursor], under_way: dict[Channel, int], wait_ms: int) -> None:
        """One request for cursors that want the same of their server: projected rows or whole ones."""
        whole = [c for c in cursors if c.whole_rows]
        if whole and len(whole) < len(cursors):
            self._ask(channel, whole, under_way, wait_ms)
            cursors = [c for c in cursors if not c.whole_rows]
        projection, filter_ = ((), None) if cursors[0].whole_rows else (self._decoder.projection, self._filter)
        settings = self._cluster.settings
        buckets = tuple(
            PbFetchLogReqForBucket(
                partition_id=c.place.bucket.partition_id,
                bucket_id=c.place.bucket.bucket,
                fetch_offset=c.next_offset,
                max_fetch_bytes=settings.bucket_fetch_bytes_max,
            )
            for c in cursors
        )
        table = PbFetchLogReqForTable(
            table_id=self._info.table_id,
            projection_pushdown_enabled=bool(projection),
            projected_fields=projection,
            buckets_req=buckets,
            filter_predicate=filter_,
            filter_schema_id=None if filter_ is None else self._info.schema_id,
        )
        request = FetchLogRequest(
            follower_server_id=_CLIENT,
            max_bytes=settings.fetch_bytes_max,
            tables_req=(table,),
            max_wait_ms=wait_ms,
            min_bytes=settings.fetch_bytes_min,
        )
        for cursor in cursors:
            self._idle.pop(cursor)
        try:
            answer = channel.post(Api.FETCH_LOG, request, timeout_ms=wait_ms + _ANSWER_GRACE_MS)
        except LakewardError as wrong:
            self._on_failure(cursors, wrong)
            return
        under_way[channel] = under_way.get(channel, 0) + 1
        self._asked.add(answer)
        answer.add_done_callback(lambda done: self._on_answer(channel, cursors, under_way, done))

    # -- answers ------------------------------------------------------------------------------------------------------

    def _on_answer(
        self, channel: Channel, cursors: list[Cursor], under_way: dict[Channel, int], answer: asyncio.Future[Any]
    ) -> None:
        self._asked.discard(answer)
        under_way[channel] -= 1
        if answer.cancelled():
            return
        wrong = answer.exception()
        if wrong is not None:
            assert isinstance(wrong, LakewardError)
            self._on_failure(cursors, wrong)
            return
        told = {(b.partition_id, b.bucket_id): b for t in answer.result().tables_resp for b in t.buckets_resp}
        idle: list[Cursor] = []
        served: list[Cursor] = []
        starved = True
        for cursor in cursors:
            bucket = cursor.place.bucket
            reply = told.get((bucket.partition_id, bucket.bucket))
            before = cursor.next_offset
            if reply is None or reply.error_code:
                code = ErrorCode.of_wire((reply.error_code if reply else None) or ErrorCode.NETWORK.value)
                self._on_failure([cursor], code.error(reply.error_message if reply else None))
            elif reply.remote_log_fetch_info is not None:
                cursor.failures = 0
                self._spawn(self._read_remote(cursor, reply.remote_log_fetch_info))
            else:
                try:
                    self._take_reply(cursor, reply)
                except LakewardError as not_taken:  # no batch, or nobody to decode it
                    self._on_failure([cursor], not_taken)
                else:
                    (idle if cursor.next_offset == before else served).append(cursor)
            starved = starved and cursor.next_offset == before and not cursor.caught_up
        idle += served  # an answer that was full left out the last buckets: next time they come first
        if starved and idle:  # behind, yet nothing came: never ask in a tight loop
            self._loop.call_later(_STARVED_MS / 1000, self._rest, idle)
        else:
            self._rest(idle)
        self._tell()

    def _rest(self, cursors: Iterable[Cursor]) -> None:
        for cursor in cursors:
            if cursor.done:
                self._active -= 1
            else:
                self._idle[cursor] = None
        self._pump_soon()
        self._tell()

    def _take_reply(self, cursor: Cursor, reply: PbFetchLogRespForBucket) -> None:
        cursor.failures = 0
        is_filtered = self._filter is not None and not cursor.whole_rows
        if reply.records:
            assert isinstance(reply.records, memoryview)
            projected = bool(self._decoder.projection) and not cursor.whole_rows
            self._take(cursor, cut(reply.records), projected=projected, unfiltered=cursor.whole_rows)
        passed = reply.filtered_end_offset or 0
        if passed > cursor.next_offset:
            if not is_filtered and self._decoder.tells_gaps:  # nothing was to be left out, so nothing is there
                stop = passed if cursor.end_offset is None else min(passed, cursor.end_offset)
                if stop > cursor.next_offset:
                    self._damage.take_gap(cursor.place.id, cursor.next_offset, stop)
            cursor.next_offset = passed
        cursor.caught_up = self._follow and cursor.next_offset >= (reply.high_watermark or 0)

    def _take(
        self,
        cursor: Cursor,
        cuts: Iterable[tuple[memoryview, BatchHeader]],
        *,
        projected: bool,
        unfiltered: bool = False,
    ) -> None:
        for piece, last in cuts:
            next_offset = last.last_offset + 1
            if next_offset > cursor.next_offset:
                id_ = cursor.place.id
                span = (cursor.next_offset, cursor.end_offset)
                self._queue.put(Chunk(piece, id_.bucket, *span, projected, unfiltered, id_.partition))
                cursor.next_offset = next_offset
            if last.schema_id == self._info.schema_id:
                cursor.whole_rows = False
            if cursor.done:
                break
        self._queue.advance()

    async def _read_remote(self, cursor: Cursor, info: PbRemoteLogFetchInfo) -> None:
        """The server points to log segments in a file store: read them there, then ask it again."""
        try:
            await self._remote.read(cursor, info)
        except CorruptError as wrong:
            await self._pass(cursor, wrong)
        except LakewardError as wrong:
            self.fail(type(wrong)(wrong.code, f"{self._info.path}, bucket {cursor.place.id}: {wrong.message}"))
        else:
            self._rest([cursor])

    async def _take_remote(self, cursor: Cursor, cuts: Iterable[Cut]) -> None:
        for cut_ in cuts:
            self._take(cursor, [cut_[:2]], projected=cut_.projected, unfiltered=True)
        self._tell()
        while self._is_full and not cursor.done:
            self._room.clear()
            await self._room.wait()

    def _on_failure(self, cursors: Iterable[Cursor], wrong: LakewardError) -> None:
        for cursor in cursors:
            where = f"{self._info.path}, bucket {cursor.place.id}"
            if wrong.code is ErrorCode.LOG_OFFSET_OUT_OF_RANGE:
                self.fail(
                    wrong.code.error(
                        f"{where}: offset {cursor.next_offset} is not in the log any more, or not yet; "
                        f"see table.offsets('earliest') and table.offsets('latest'). {wrong.message}"
                    )
                )
            elif wrong.code in _NOT_PROJECTED and not cursor.whole_rows and (self._decoder.projection or self._filter):
                # Apache Fluss refuses to project batches that are older than an asked column, and no server can
                # project a bad one; then we project, and see which batch it is.
                cursor.whole_rows = True
                self._rest([cursor])
            elif isinstance(wrong, CorruptError):
                self._spawn(self._pass(cursor, wrong))
            elif isinstance(wrong, RetriableError) or wrong.code is ErrorCode.FENCED_LEADER_EPOCH:
                cursor.failures += 1
                cursor.channel = None
                self._cluster.metadata.forget(cursor.place.bucket)
                self._mender.mend(cursor, wrong)
            else:
                self.fail(wrong.code.error(f"{where}: {wrong.message}"))

    async def _pass(self, cursor: Cursor, wrong: CorruptError) -> None:
        """What lies at a cursor is damaged, and would be when asked again: the scan ends, or goes on after it."""
        cursor.next_offset = await behind(self._cluster, self._info, self._damage, cursor, wrong)
        self._rest([cursor])

    # -- waiting and failing ------------------------------------------------------------------------------------------

    def _spawn(self, work: Any) -> None:
        task = self._loop.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self.on_task_end)

    def on_task_end(self, task: asyncio.Task[None]) -> None:
        """A task that works for this scan has ended; if it failed, so does the scan."""
        self._tasks.discard(task)
        if task.cancelled():
            return
        wrong = task.exception()
        if isinstance(wrong, LakewardError):
            self.fail(wrong)
        elif wrong is not None:
            self.fail(ErrorCode.UNKNOWN_SERVER_ERROR.error(f"The scan of {self._info.path} failed: {wrong!r}"))

    def fail(self, wrong: LakewardError) -> None:
        """End the scan with an error once everything fetched before it was handed out."""
        if self._failure is None:
            self._failure = wrong
        self._tell()

    def _tell(self) -> None:
        if self._news is not None:
            if not self._news.done():
                self._news.set_result(None)
            self._news = None

    async def _wait_for_news(self) -> None:
        self._news = self._loop.create_future()
        await self._news
