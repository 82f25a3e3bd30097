"""Sender: takes batches of one writer to the leaders of their buckets, again and again until each is settled."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable
from typing import Any

from lakeward.client.admin.admin import table_info
from lakeward.client.cluster.cluster import Cluster
from lakeward.client.cluster.patience import STALE_METADATA
from lakeward.client.cluster.writer_ids import WriterIdentity, WriterIds
from lakeward.client.write.delivery import PRESSURE_PAUSE_MS_MAX, Delivery
from lakeward.client.write.lane import Lane, Outgoing, Sealable, Verdict
from lakeward.errors import ErrorCode, LakewardError, RetriableError
from lakeward.model.bucket import TableBucket
from lakeward.model.table import TableInfo
from lakeward.rpc.channel import Channel

_log = logging.getLogger(__name__)
#: Small batches travel together up to this size; larger ones alone, so that none waits for another.
_SHARED_REQUEST_BYTES = 512 * 1024
#: A batch that could not be delivered for this long fails.
_DELIVERY_S_MAX = 120
_ANSWER_GRACE_MS = 5_000
#: Whoever waits is told why, once, when a batch has been refused for this long.
_TOLD_AFTER_S = 2
_Sent = tuple[Lane, Outgoing]


class _Request:
    """Batches of different buckets that will travel together."""

    def __init__(self) -> None:
        self.sent: list[_Sent] = []
        self._lanes: set[Lane] = set()
        self._bytes = 0

    def has_room_for(self, lane: Lane, batch: Outgoing) -> bool:
        """Whether one more fits; a request holds one batch per bucket."""
        return not self.sent or (lane not in self._lanes and self._bytes + batch.encoded_bytes <= _SHARED_REQUEST_BYTES)

    def add(self, lane: Lane, batch: Outgoing) -> None:
        """Take a batch along."""
        self.sent.append((lane, batch))
        self._lanes.add(lane)
        self._bytes += batch.encoded_bytes


class Sender:
    """The lanes of one writer. Runs on callbacks; tasks appear only when something is wrong."""

    def __init__(
        self, cluster: Cluster, info: TableInfo, delivery: Delivery, ids: WriterIds, identity: WriterIdentity
    ) -> None:
        self._cluster = cluster
        self._info = info
        self._delivery = delivery
        self._ids = ids
        self._identity = identity
        self._loop = asyncio.get_running_loop()
        self._lanes: dict[TableBucket, Lane] = {}
        self._channels: dict[Lane, Channel] = {}
        self._mending: dict[Lane, asyncio.Task[None]] = {}
        self._dirty: dict[Lane, None] = {}
        self._pumping = False
        self._waiters: list[asyncio.Future[None]] = []
        self.unsettled_batches = 0
        self.unsettled_bytes = 0
        self.rows = self.batches = self.bytes = 0
        self.failure: LakewardError | None = None
        self._is_told = False
        #: Whether somebody has seen the failure.
        self.has_raised = False

    def follow(self, info: TableInfo) -> None:
        """Send what comes from now on with a newer schema of the table; nothing may be on its way."""
        self._info = info

    # -- from the writer ----------------------------------------------------------------------------------------------

    def submit(self, bucket: TableBucket, partition: str | None, batch: Outgoing) -> None:
        """Queue a batch for a bucket; `fill()` tells when it may leave. After a failure nothing is queued."""
        if self.failure is not None:
            return
        lane = self._lanes.get(bucket)
        if lane is None:
            sequence = self._identity.next_sequences.get(bucket, 0)
            lane = Lane(bucket, partition, self._identity.writer_id, sequence, self._cluster.settings.in_flight_max)
            self._lanes[bucket] = lane
        self.unsettled_batches += 1
        self.unsettled_bytes += batch.raw_bytes
        lane.add(batch)
        self._touch(lane)

    def fill(self, bucket: TableBucket, batch: Outgoing, rows: Sealable) -> None:
        """The rows of a batch are ready."""
        if self.failure is None:
            batch.rows = rows
            batch.encoded_bytes = rows.size
            self._touch(self._lanes[bucket])

    def fail(self, wrong: LakewardError) -> None:
        """Give up: the first failure is kept, what has not left stays."""
        if self.failure is None:
            self.failure = wrong
        for lane in self._lanes.values():
            for batch in lane.drop_waiting():
                self._settle(batch)
        self._notify()

    async def drain(self, bytes_max: int = 0) -> None:
        """Wait until at most this many raw bytes are unsettled (0: until nothing is); raises the first failure."""
        while self.failure is None and self.unsettled_batches and (self.unsettled_bytes > bytes_max or not bytes_max):
            changed = self._loop.create_future()
            self._waiters.append(changed)
            await changed
        self.raise_failure()

    def raise_failure(self) -> None:
        """Raise the first failure, if there was one."""
        if self.failure is not None:
            self.has_raised = True
            raise self.failure.code.error(self.failure.message)

    def close(self) -> None:
        """Hand the writer id back if it is as good as new; otherwise forget it."""
        for task in list(self._mending.values()):
            task.cancel()
        renamed = any(lane.writer_id != self._identity.writer_id for lane in self._lanes.values())
        if self.failure is None and not self.unsettled_batches and not renamed:
            self._identity.next_sequences.update({b: lane.next_sequence for b, lane in self._lanes.items()})
            self._ids.give_back(self._identity)

    # -- sending ------------------------------------------------------------------------------------------------------

    def _touch(self, lane: Lane) -> None:
        self._dirty[lane] = None
        if not self._pumping:
            self._pumping = True
            self._loop.call_soon(self.pump)

    def pump(self) -> None:
        """Send what may leave; done by itself a moment later, so that what comes together leaves together."""
        self._pumping = False
        dirty, self._dirty = self._dirty, {}
        requests: dict[Channel, _Request] = {}
        for lane in dirty:
            channel = self._channel(lane)
            while channel is not None and (batch := lane.take()) is not None:
                batch.first_sent_s = batch.first_sent_s or self._cluster.metadata.attended_s()
                request = requests.setdefault(channel, _Request())
                if not request.has_room_for(lane, batch):
                    self._post(channel, request.sent)
                    request = requests[channel] = _Request()
                request.add(lane, batch)
        for channel, request in requests.items():
            self._post(channel, request.sent)

    def _channel(self, lane: Lane) -> Channel | None:
        if lane in self._mending:
            return None
        channel = self._channels.get(lane)
        if channel is None:
            channel = self._cluster.leader_at_hand(lane.bucket)
            if channel is not None and not self._knows(lane, channel):
                return None
        if channel is None or channel.closed or lane.can_renumber:
            self._mend(lane)
            return None
        return channel

    def _knows(self, lane: Lane, channel: Channel) -> bool:
        """Whether the server understands what this lane carries; it must, or the writer fails."""
        try:
            self._delivery.check(channel)
        except LakewardError as wrong:
            self.fail(self._explain(lane, wrong))
            return False
        self._channels[lane] = channel
        return True

    def _post(self, channel: Channel, group: list[_Sent]) -> None:
        settings = self._cluster.settings
        request = self._delivery.request([(lane.bucket, self._seal(lane, batch)) for lane, batch in group], settings)
        try:
            timeout_ms = settings.request_timeout_ms + _ANSWER_GRACE_MS
            answer = channel.post(self._delivery.api, request, timeout_ms=timeout_ms)
        except LakewardError as wrong:
            self._on_same_answer(group, wrong)
        else:
            answer.add_done_callback(lambda done: self._on_answer(group, done))

    def _seal(self, lane: Lane, batch: Outgoing) -> memoryview | bytearray:
        assert batch.rows is not None
        return batch.rows.seal(self._info.schema_id, lane.writer_id, batch.sequence)

    # -- answers ------------------------------------------------------------------------------------------------------

    def _on_answer(self, group: list[_Sent], answer: asyncio.Future[Any]) -> None:
        if answer.cancelled():
            return
        wrong = answer.exception()
        if wrong is not None:
            assert isinstance(wrong, LakewardError)
            self._on_same_answer(group, wrong)
            return
        told = {(b.partition_id, b.bucket_id): b for b in answer.result().buckets_resp}
        for lane, batch in group:
            reply = told.get((lane.bucket.partition_id, lane.bucket.bucket))
            if reply is None:
                self._take_refusal(lane, batch, ErrorCode.UNKNOWN_SERVER_ERROR.error(f"No answer for {lane.bucket}."))
            elif reply.error_code:
                self._take_refusal(lane, batch, ErrorCode.of_wire(reply.error_code).error(reply.error_message))
            else:
                lane.settle(batch)
                self._rest(lane, self._delivery.pause_ms(reply))
                self._take_success(lane, batch)

    def _rest(self, lane: Lane, pause_ms: float) -> None:
        """Leave a bucket alone for a moment, because its store cannot keep up."""
        if pause_ms:
            self._mend(lane, pause_s=pause_ms / 1000)

    def _on_same_answer(self, group: Iterable[_Sent], wrong: LakewardError) -> None:
        for lane, batch in group:
            self._take_refusal(lane, batch, wrong)

    def _take_success(self, lane: Lane, batch: Outgoing) -> None:
        self.rows += batch.row_count
        self.batches += 1
        self.bytes += batch.encoded_bytes
        self._settle(batch)
        self._notify()
        if lane.unsettled_batches:
            self._touch(lane)

    def _take_refusal(self, lane: Lane, batch: Outgoing, wrong: LakewardError) -> None:
        attempts_max = self._cluster.settings.retries + 1
        refused_s = self._cluster.metadata.attended_s() - batch.first_sent_s
        if refused_s > _DELIVERY_S_MAX:
            attempts_max = 0
        if self.failure is not None:
            attempts_max = 0
        verdict = lane.take_refusal(batch, wrong.code, attempts_max)
        if verdict is Verdict.STORED:
            self._take_success(lane, batch)
        elif verdict is Verdict.FAILED or self.failure is not None:
            if verdict is Verdict.FAILED:
                self._settle(batch)
            self.fail(self._explain(lane, wrong))
        else:
            if wrong.code in STALE_METADATA:
                self._channels.pop(lane, None)
                self._cluster.metadata.forget(lane.bucket)
            if refused_s > _TOLD_AFTER_S and not self._is_told:
                self._is_told = True
                _log.warning("%s: waiting: %s", self._info.path, wrong.message)
            self._mend(lane, self._pause_s(wrong.code, batch.attempts), batch.attempts)

    def _explain(self, lane: Lane, wrong: LakewardError) -> LakewardError:
        where = f"bucket {lane.bucket.bucket}" + (f" of partition {lane.partition}" if lane.partition else "")
        return wrong.code.error(f"{self._delivery.verb} {self._info.path}, {where}, failed: {wrong.message}")

    def _settle(self, batch: Outgoing) -> None:
        self.unsettled_batches -= 1
        self.unsettled_bytes -= batch.raw_bytes
        batch.rows = None

    def _notify(self) -> None:
        waiters, self._waiters = self._waiters, []
        for changed in waiters:
            if not changed.done():  # whoever waited may have been cancelled
                changed.set_result(None)

    # -- mending ------------------------------------------------------------------------------------------------------

    def _pause_s(self, code: ErrorCode, attempts: int) -> float:
        if code is ErrorCode.STORAGE_BACKPRESSURE:
            return PRESSURE_PAUSE_MS_MAX / 1000
        return self._cluster.backoff.pause_s(attempts)

    def _mend(self, lane: Lane, pause_s: float = 0.0, failures: int = 0) -> None:
        if lane not in self._mending:
            task = self._loop.create_task(self._find_leader(lane, pause_s, failures))
            self._mending[lane] = task
            task.add_done_callback(lambda done: self._end_of_mending(lane, done))

    async def _find_leader(self, lane: Lane, pause_s: float, failures: int) -> None:
        """Wait a little, find the leader, open a channel, get a fresh writer id if one is wanted; then go on."""
        clock = self._cluster.metadata.attended_s
        give_up_s = clock() + _DELIVERY_S_MAX
        while True:
            await asyncio.sleep(pause_s)
            try:
                if failures and self._cluster.metadata.leader(lane.bucket) is None:
                    await self._check_table()
                channel = await self._cluster.leader(self._info.path, lane.bucket, lane.partition)
                if not self._knows(lane, channel):
                    break
                if lane.can_renumber:
                    lane.renumber(await self._ids.fresh(self._info.path))
                break
            except RetriableError as wrong:
                if clock() > give_up_s:
                    self.fail(self._explain(lane, wrong))
                    break
                failures += 1
                pause_s = self._cluster.backoff.pause_s(failures)
            except LakewardError as wrong:
                self.fail(self._explain(lane, wrong))
                break

    def _end_of_mending(self, lane: Lane, task: asyncio.Task[None]) -> None:
        self._mending.pop(lane, None)
        if task.cancelled():
            return
        bug = task.exception()
        if bug is not None:  # whoever waits for this lane must hear of it
            self.fail(ErrorCode.UNKNOWN_SERVER_ERROR.error(f"{self._delivery.verb} {self._info.path} failed: {bug!r}"))
        elif lane.unsettled_batches:
            self._touch(lane)

    async def _check_table(self) -> None:
        """A table that was dropped, or dropped and created again, is not worth waiting for."""
        now = await table_info(self._cluster, self._info.path)
        if now.table_id != self._info.table_id:
            raise ErrorCode.TABLE_NOT_EXIST.error(
                f"{self._info.path} was dropped and created anew; open it again with connection.table()."
            )
