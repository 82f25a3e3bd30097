"""RawLane: parcels into one bucket of a copy, in order, each once, each at the offset that it has in the source.

    waiting    not sent yet, or to be sent again
    flying     sent, not answered

A batch has the same number whoever sends it and however often: the one behind its predecessor's, which is read from the
target's log itself. After any failure that log is asked first how far it came.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from lakeward.client.admin.offsets import Place
from lakeward.client.cluster.cluster import Cluster
from lakeward.client.cluster.patience import STALE_METADATA
from lakeward.client.raw.log_tail import LogTail
from lakeward.client.raw.parcels import Parcel
from lakeward.client.write.delivery import Delivery
from lakeward.errors import ErrorCode, LakewardError, RetriableError
from lakeward.model.table import TableInfo
from lakeward.records.batch.batch_header import NO_WRITER

_FLYING_MAX = 5
_WAITING_MAX = 2
#: A parcel that could not be delivered for this long fails, and the copy with it.
_GIVE_UP_S = 120
_ANSWER_GRACE_MS = 5_000
#: After so many attempts a person is told what is waited for.
_TOLD_AFTER = 5
_log = logging.getLogger("lakeward.client")
_SEQUENCES = 1 << 31
#: What is worth asking the target how far it came, besides what may pass by itself.
_LOST_COUNT = {ErrorCode.OUT_OF_ORDER_SEQUENCE, ErrorCode.UNKNOWN_WRITER_ID, ErrorCode.DUPLICATE_SEQUENCE}


@dataclass(slots=True, eq=False)
class _Sent:
    parcel: Parcel
    failed: bool = False


class RawLane:
    """One bucket's parcels. `position` is how far the target has acknowledged them."""

    def __init__(
        self,
        cluster: Cluster,
        info: TableInfo,
        place: Place,
        delivery: Delivery,
        tail: LogTail,
        ask_tail: Callable[[Place], Awaitable[LogTail]],
        fresh_id: Callable[[], Awaitable[int]],
    ) -> None:
        self._cluster, self._info, self._place, self._delivery = cluster, info, place, delivery
        self._ask_tail, self._fresh_id = ask_tail, fresh_id
        self._waiting: deque[Parcel] = deque()
        self._flying: list[_Sent] = []
        self._writer_id, self._sequence = NO_WRITER, 0
        self._wrong: LakewardError | None = None
        self._failure: LakewardError | None = None
        self._attempts = 0
        self._moved_s = self._now_s()
        self._news = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self.position = self.queued = tail.end
        self.rows = self.bytes = 0
        self._go_on(tail)

    def _now_s(self) -> float:
        return self._cluster.metadata.attended_s()

    def _go_on(self, tail: LogTail) -> None:
        """Number what comes as the log's last batch says."""
        if tail.last is not None and tail.last.writer_id >= 0 and tail.last.batch_sequence >= 0:
            self._writer_id = tail.last.writer_id
            self._sequence = (tail.last.batch_sequence + 1) % _SEQUENCES

    # -- for the writer -----------------------------------------------------------------------------------------------

    async def put(self, parcel: Parcel) -> None:
        """Send a parcel after those before it; waits while enough is under way. Raises the first failure."""
        assert parcel.first == self.queued, f"{parcel.first} does not follow {self.queued}"
        self.queued = parcel.end
        self._waiting.append(parcel)
        if self._task is None:
            self._moved_s = self._now_s()
            self._task = asyncio.create_task(self._run())
        self._tell()
        await self._until(lambda: len(self._waiting) <= _WAITING_MAX)

    async def drain(self) -> None:
        """Wait until everything is acknowledged; raises the first failure."""
        await self._until(lambda: not self._waiting and not self._flying)
        await self.close()

    async def _until(self, done: Callable[[], bool]) -> None:
        while self._failure is None and not done():
            news = self._news
            await news.wait()
        if self._failure is not None:
            raise self._failure.code.error(self._failure.message)

    async def close(self) -> None:
        """Send nothing more."""
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    # -- sending ------------------------------------------------------------------------------------------------------

    def _tell(self) -> None:
        news, self._news = self._news, asyncio.Event()
        news.set()

    async def _run(self) -> None:
        try:
            while self._failure is None:
                news = self._news
                if self._wrong is not None and not any(not sent.failed for sent in self._flying):
                    await self._mend(self._wrong)
                elif self._wrong is None and self._waiting and len(self._flying) < _FLYING_MAX:
                    await self._send(self._waiting[0])
                else:
                    await news.wait()
        except LakewardError as wrong:
            self._fail(wrong)
        except Exception as bug:  # noqa: BLE001 - whoever waits for this lane must hear of it
            self._fail(ErrorCode.UNKNOWN_SERVER_ERROR.error(f"Copying failed: {bug!r}"))

    async def _send(self, parcel: Parcel) -> None:
        if self._writer_id == NO_WRITER:
            self._writer_id, self._sequence = await self._fresh_id(), 0
        loop = asyncio.get_running_loop()
        sealed = await loop.run_in_executor(self._cluster.workers, parcel.seal, self._writer_id, self._sequence)
        settings = self._cluster.settings
        try:
            channel = await self._cluster.leader(self._info.path, self._place.bucket, self._place.id.partition)
            await channel.writable()
            if self._wrong is not None:  # what flew before it has failed meanwhile
                return
            self._delivery.check(channel)
            request = self._delivery.request([(self._place.bucket, sealed)], settings)
            timeout_ms = settings.request_timeout_ms + _ANSWER_GRACE_MS
            answer = channel.post(self._delivery.api, request, timeout_ms=timeout_ms)
        except LakewardError as wrong:
            self._note(wrong)
            return
        self._waiting.popleft()
        self._sequence = (self._sequence + parcel.batches) % _SEQUENCES
        sent = _Sent(parcel)
        self._flying.append(sent)
        answer.add_done_callback(lambda done: self._on_answer(sent, done))
        self._tell()

    def _on_answer(self, sent: _Sent, answer: asyncio.Future[Any]) -> None:
        if answer.cancelled():
            return
        wrong = answer.exception()
        if wrong is None:
            reply = next(iter(answer.result().buckets_resp), None)
            if reply is None:
                wrong = ErrorCode.NETWORK.error("the answer names no bucket")
            elif reply.error_code:
                wrong = ErrorCode.of_wire(reply.error_code).error(reply.error_message)
            else:
                self._take(sent, reply)
                return
        assert isinstance(wrong, LakewardError)
        sent.failed = True
        self._note(wrong)

    def _take(self, sent: _Sent, reply: Any) -> None:
        """The target has it; is it where it should be?"""
        parcel = sent.parcel
        first = getattr(reply, "base_offset", None)
        wanted, got = (parcel.end, reply.log_end_offset) if first is None else (parcel.first, first)
        self._flying.remove(sent)
        if got != wanted:
            self._fail(
                ErrorCode.INVALID_TABLE.error(
                    f"the rows of offset {parcel.first} are not there but at offset {parcel.first + got - wanted}: "
                    "somebody else writes to the target. Stop that, drop the table and copy it anew"
                )
            )
            return
        self.position = max(self.position, parcel.end)
        self.rows += parcel.rows
        self.bytes += parcel.bytes
        self._attempts, self._moved_s = 0, self._now_s()
        self._tell()

    # -- mending ------------------------------------------------------------------------------------------------------

    def _note(self, wrong: LakewardError) -> None:
        passes = isinstance(wrong, RetriableError) or wrong.code in _LOST_COUNT | {ErrorCode.FENCED_LEADER_EPOCH}
        if not passes or self._now_s() - self._moved_s > _GIVE_UP_S:
            self._fail(wrong)
            return
        if self._wrong is None or wrong.code in _LOST_COUNT:
            self._wrong = wrong
        if wrong.code in STALE_METADATA:
            self._cluster.metadata.forget(self._place.bucket)
        self._tell()

    async def _mend(self, wrong: LakewardError) -> None:
        """Nothing is under way any more: see what has come, and send what has not."""
        self._attempts += 1
        if self._attempts == _TOLD_AFTER:
            _log.warning("%s, bucket %s: waiting: %s", self._info.path, self._place.id, wrong.message)
        await asyncio.sleep(self._cluster.backoff.pause_s(self._attempts))
        tail = await self._ask_tail(self._place)
        if tail.end < self.position:
            raise ErrorCode.INVALID_TABLE.error(
                f"the target has lost rows that it had acknowledged: it ends at offset {tail.end}, and did at "
                f"{self.position}. Run the copy again: it goes on from there"
            )
        unsent = [sent.parcel for sent in self._flying] + list(self._waiting)
        moved = tail.end > self.position
        self._flying.clear()
        self._waiting = deque(left for one in unsent if (left := one.behind(tail.end)) is not None)
        self.rows += sum(one.rows for one in unsent) - sum(one.rows for one in self._waiting)
        self.bytes += sum(one.bytes for one in unsent) - sum(one.bytes for one in self._waiting)
        if self._waiting and self._waiting[0].first != tail.end:
            raise ErrorCode.INVALID_TABLE.error(
                f"the target ends at offset {tail.end}, in the middle of a batch: somebody else writes to it"
            )
        self.position = tail.end
        if wrong.code in _LOST_COUNT and not moved and self._attempts > 1:
            self._writer_id = NO_WRITER  # the target has forgotten the writer: another one begins at 0
        else:
            self._go_on(tail)
        self._wrong = None
        self._tell()

    def _fail(self, wrong: LakewardError) -> None:
        if self._failure is None:
            where = f"{self._info.path}, bucket {self._place.id}"
            self._failure = wrong.code.error(f"{self._delivery.verb} {where}, failed: {wrong.message}")
        self._tell()
