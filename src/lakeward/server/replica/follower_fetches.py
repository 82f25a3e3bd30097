"""FollowerFetches: one conversation with each leader, in which the buckets that follow it get what they lack."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable
from typing import NamedTuple

from lakeward.errors import ErrorCode, LakewardError
from lakeward.model.bucket import TableBucket
from lakeward.protocol.api import Api
from lakeward.protocol.messages.log import (
    FetchLogRequest,
    FetchLogResponse,
    ListOffsetsRequest,
    PbFetchLogReqForBucket,
    PbFetchLogReqForTable,
    PbFetchLogRespForBucket,
)
from lakeward.server.replica.following import AFTER_ERRORS, After
from lakeward.server.replica.log_copy import LogCopy
from lakeward.server.replica.peers import Peers
from lakeward.server.replica.replica import Replica

_log = logging.getLogger(__name__)
_EARLIEST, _LATEST = 0, 1


class FetchSettings(NamedTuple):
    """The numbers that followers obey."""

    server_id: int
    bytes_max: int
    bucket_bytes_max: int
    wait_ms: int
    rest_ms: int


class FollowerFetches:
    """Which buckets follow which server, and a task for each of those servers."""

    def __init__(
        self, settings: FetchSettings, peers: Peers, copy: LogCopy, settle: Callable[[], Awaitable[None]]
    ) -> None:
        """`settle` waits until nothing is being written about logs in the background."""
        self._settings = settings
        self._peers = peers
        self._copy = copy
        self._settle = settle
        self._followed: dict[int, dict[TableBucket, Replica]] = {}
        self._tasks: dict[int, asyncio.Task[None]] = {}
        #: Until when a bucket is not asked for, on the loop's clock.
        self._resting: dict[TableBucket, float] = {}

    def begin(self, replica: Replica) -> None:
        """Follow the leader of a bucket, and nobody else."""
        self.end(replica.bucket)
        leader = replica.standing.leader
        self._followed.setdefault(leader, {})[replica.bucket] = replica
        if leader not in self._tasks:
            self._tasks[leader] = asyncio.get_running_loop().create_task(self._converse(leader))

    def end(self, bucket: TableBucket) -> None:
        """Follow nobody in a bucket."""
        self._resting.pop(bucket, None)
        for followed in self._followed.values():
            followed.pop(bucket, None)

    async def stop(self) -> None:
        """Follow nobody any more."""
        for task in self._tasks.values():
            task.cancel()
        await asyncio.gather(*self._tasks.values(), return_exceptions=True)

    # -- a conversation

    async def _converse(self, leader: int) -> None:
        """Ask a leader for all that follow it, as long as there are any."""
        try:
            while self._followed.get(leader):
                try:
                    await self._ask(leader)
                except LakewardError as wrong:
                    _log.info("server %d does not answer its followers: %s", leader, wrong)
                    for replica in self._followed[leader].values():
                        self._copy.doubt(replica)
                    await asyncio.sleep(self._settings.rest_ms / 1000)
                except Exception:  # noqa: BLE001 - the others must be followed on
                    _log.exception("following server %d failed; it is tried again", leader)
                    await asyncio.sleep(self._settings.rest_ms / 1000)
        finally:
            self._tasks.pop(leader, None)
            self._followed.pop(leader, None)

    async def _ask(self, leader: int) -> None:
        now = asyncio.get_running_loop().time()
        due = [r for b, r in self._followed[leader].items() if r.following and self._resting.get(b, 0) <= now]
        if not due:
            await asyncio.sleep(self._settings.wait_ms / 1000)
            return
        asked = {replica.bucket: replica for replica in due}
        places = {replica.bucket: replica.following for replica in due}
        answer: FetchLogResponse = await self._peers.ask_server(leader, Api.FETCH_LOG, self._request(due))
        for table in answer.tables_resp:
            for one in table.buckets_resp:
                bucket = TableBucket(table.table_id, one.partition_id, one.bucket_id)
                replica = asked.get(bucket)
                # An order may have come meanwhile, and the answer is then to a question of before.
                if replica is not None and replica.following is not None and replica.following is places[bucket]:
                    await self._take(leader, replica, one)

    async def _take(self, leader: int, replica: Replica, one: PbFetchLogRespForBucket) -> None:
        try:
            if one.error_code:
                raise ErrorCode.of_wire(one.error_code).error(one.error_message or "The leader gave no reason.")
            cut = self._copy.take(replica, one)
            if cut is not None:
                await self._cut(replica, cut)
                self._copy.take(replica, one)
        except LakewardError as wrong:
            if AFTER_ERRORS.get(wrong.code) is After.LOCATE:
                await self._locate(leader, replica)
            else:
                _log.info("%s: server %d: %s", replica.bucket, leader, wrong)
                self._copy.doubt(replica)
                self._rest(replica.bucket)

    def _rest(self, bucket: TableBucket) -> None:
        self._resting[bucket] = asyncio.get_running_loop().time() + self._settings.rest_ms / 1000

    async def _cut(self, replica: Replica, offset: int) -> None:
        following = replica.following
        await self._settle()
        if replica.following is following:
            self._copy.cut(replica, offset)

    async def _locate(self, leader: int, replica: Replica) -> None:
        """Our place is not in the leader's log: find one that is."""
        following = replica.following
        try:
            end = await self._offset(leader, replica.bucket, _LATEST)
            start = await self._offset(leader, replica.bucket, _EARLIEST)
            await self._settle()
        except LakewardError as wrong:
            _log.info("%s: server %d does not say where its log is: %s", replica.bucket, leader, wrong)
            self._rest(replica.bucket)
            return
        if replica.following is following and following is not None:
            self._copy.locate(replica, start, end)

    async def _offset(self, leader: int, bucket: TableBucket, kind: int) -> int:
        request = ListOffsetsRequest(
            follower_server_id=self._settings.server_id,
            offset_type=kind,
            table_id=bucket.table_id,
            partition_id=bucket.partition_id,
            bucket_id=(bucket.bucket,),
        )
        answer = await self._peers.ask_server(leader, Api.LIST_OFFSETS, request)
        one = answer.buckets_resp[0]
        if one.error_code:
            raise ErrorCode.of_wire(one.error_code).error(one.error_message or "The leader gave no reason.")
        return int(one.offset)

    def _request(self, due: Iterable[Replica]) -> FetchLogRequest:
        settings = self._settings
        tables: dict[int, list[PbFetchLogReqForBucket]] = {}
        for replica in due:
            assert replica.following is not None
            tables.setdefault(replica.bucket.table_id, []).append(
                PbFetchLogReqForBucket(
                    partition_id=replica.bucket.partition_id,
                    bucket_id=replica.bucket.bucket,
                    fetch_offset=replica.following.offset,
                    max_fetch_bytes=settings.bucket_bytes_max,
                )
            )
        return FetchLogRequest(
            follower_server_id=settings.server_id,
            max_bytes=settings.bytes_max,
            tables_req=tuple(
                PbFetchLogReqForTable(table_id=table_id, projection_pushdown_enabled=False, buckets_req=tuple(buckets))
                for table_id, buckets in tables.items()
            ),
            max_wait_ms=settings.wait_ms,
            min_bytes=1,
        )
