"""Two tablet servers of ours with one bucket between them, ordered about over sockets as a coordinator does."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from arrow_batches import ids_batch
from wire_tables import table_json

from lakeward.errors import ErrorCode
from lakeward.options.server_options import ServerOptions
from lakeward.protocol.api import Api
from lakeward.protocol.messages.log import (
    FetchLogRequest,
    PbFetchLogReqForBucket,
    PbFetchLogReqForTable,
    PbFetchLogRespForBucket,
    PbProduceLogReqForBucket,
    ProduceLogRequest,
)
from lakeward.protocol.messages.metadata import PbPhysicalTablePath, PbServerNode, PbTableMetadata
from lakeward.protocol.messages.servers import orders, reports
from lakeward.protocol.messages.shared import PbTablePath
from lakeward.protocol.messages.snapshot import PbTableBucket
from lakeward.rpc.channel import Channel
from lakeward.rpc.pool import ChannelPool
from lakeward.server.doors import Doors
from lakeward.server.node import Node, start_node
from lakeward.server.replica.seat import Seat
from lakeward.server.tablet_roles import Membership

_A, _B, _TABLE = 1, 2, 7
_PATH = PbTablePath(database_name="fluss", table_name="two")


class Coordinator:
    """Says yes to every in-sync set, and knows nothing else."""

    def __init__(self) -> None:
        self.isr: tuple[int, ...] = (_A, _B)
        self.bucket_epoch = 0

    async def ask(self, api: Api, request: Any) -> Any:
        """ADJUST_ISR alone."""
        if api is not Api.ADJUST_ISR:
            raise ErrorCode.NETWORK.error("There is only a test.")
        asked = request.tables_req[0].buckets_req[0]
        self.isr, self.bucket_epoch = tuple(asked.new_isr), self.bucket_epoch + 1
        one = reports.PbAdjustIsrRespForBucket(bucket_id=0, isr=self.isr, bucket_epoch=self.bucket_epoch)
        table = reports.PbAdjustIsrRespForTable(table_id=_TABLE, buckets_resp=(one,))
        return reports.AdjustIsrResponse(tables_resp=(table,))


class Pair:
    """Both servers, and a line to each."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self.coordinator = Coordinator()
        self._pool = ChannelPool()
        self._nodes: dict[int, Node] = {}
        self.lines: dict[int, Channel] = {}

    async def start(self) -> None:
        """Both come up and hear of the table."""
        for number in (_A, _B):
            pairs = [f"data.dir={self._directory / str(number)}", "bind.listeners=FLUSS://localhost:0"]
            coordinator: Any = self.coordinator
            seat = Seat(self._pool, coordinator, "FLUSS", coordinator)
            member = Membership(number, coordinator)
            options = ServerOptions.of(pairs=[*pairs, "log.replica.fetch.backoff-interval=50ms"])
            self._nodes[number] = await start_node(options, Doors.of_this_machine(), member=member, seat=seat)
            self.lines[number] = await Channel.open("localhost", self._nodes[number].addresses[0].port)
        servers = tuple(
            PbServerNode(node_id=number, host="localhost", port=node.addresses[0].port)
            for number, node in self._nodes.items()
        )
        table = PbTableMetadata(
            table_path=_PATH,
            table_id=_TABLE,
            schema_id=1,
            table_json=table_json(("id", "BIGINT")),
            created_time=0,
            modified_time=0,
        )
        for line in self.lines.values():
            await line.request(
                Api.UPDATE_METADATA, orders.UpdateMetadataRequest(tablet_servers=servers, table_metadata=(table,))
            )

    async def stop(self) -> None:
        """Everything ends."""
        for number in list(self._nodes):
            self.lines[number].close()
            await self._nodes[number].stop()
        await self._pool.close()

    async def order(self, number: int, leader: int, epoch: int) -> int:
        """Tell one of them who leads; the error that it answers, 0 where it obeys."""
        one = orders.PbNotifyLeaderAndIsrReqForBucket(
            physical_table_path=PbPhysicalTablePath(database_name="fluss", table_name="two"),
            table_bucket=PbTableBucket(table_id=_TABLE, bucket_id=0),
            leader=leader,
            leader_epoch=epoch,
            replicas=(_A, _B),
            isr=self.coordinator.isr,
            bucket_epoch=self.coordinator.bucket_epoch,
        )
        request = orders.NotifyLeaderAndIsrRequest(coordinator_epoch=0, notify_buckets_leader_req=(one,))
        answer = await self.lines[number].request(Api.NOTIFY_LEADER_AND_ISR, request)
        return answer.notify_buckets_leader_resp[0].error_code or 0

    async def append(self, number: int, value: int, *, acks: int = -1, timeout_ms: int = 5000) -> int:
        """Append a row; the error that is answered, 0 where it is kept."""
        one = PbProduceLogReqForBucket(bucket_id=0, records=bytes(ids_batch([value])))
        request = ProduceLogRequest(acks=acks, table_id=_TABLE, timeout_ms=timeout_ms, buckets_req=(one,))
        answer = await self.lines[number].request(Api.PRODUCE_LOG, request)
        return answer.buckets_resp[0].error_code or 0

    async def fetch(self, number: int, *, follower: int = -1) -> PbFetchLogRespForBucket:
        """Everything from the start, as a client or as a replica."""
        one = PbFetchLogReqForBucket(bucket_id=0, fetch_offset=0, max_fetch_bytes=1 << 20)
        table = PbFetchLogReqForTable(table_id=_TABLE, projection_pushdown_enabled=False, buckets_req=(one,))
        request = FetchLogRequest(follower_server_id=follower, max_bytes=1 << 20, tables_req=(table,))
        answer = await self.lines[number].request(Api.FETCH_LOG, request)
        found: PbFetchLogRespForBucket = answer.tables_resp[0].buckets_resp[0]
        return found

    def log(self, number: int) -> bytes:
        """The bytes that one of them has."""
        return b"".join(path.read_bytes() for path in sorted((self._directory / str(number)).glob("**/*.log")))


def run(tmp_path: Path, story: Callable[[Pair], Awaitable[None]]) -> None:
    """A story of two servers."""

    async def tell() -> None:
        pair = Pair(tmp_path)
        try:
            await pair.start()
            await story(pair)
        finally:
            await pair.stop()

    asyncio.run(tell())


async def until(holds: Callable[[], bool]) -> None:
    """Wait for something; a test that waits too long is stopped."""
    while not holds():  # noqa: ASYNC110 - files tell nobody
        await asyncio.sleep(0.01)


def test_what_is_acknowledged_is_on_both(tmp_path: Path) -> None:
    """The same bytes; clients are served by the leader alone, and an old leader's epoch is refused."""

    async def story(pair: Pair) -> None:
        assert await pair.order(_A, leader=_A, epoch=3) == 0
        assert await pair.order(_B, leader=_A, epoch=3) == 0
        for value in range(20):
            assert await pair.append(_A, value) == 0
            assert pair.log(_A) == pair.log(_B)
        told = await pair.fetch(_A)
        assert (told.high_watermark, told.records) == (20, pair.log(_A))
        assert (await pair.fetch(_B)).error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER.value
        assert await pair.append(_B, 1) == ErrorCode.NOT_LEADER_OR_FOLLOWER.value
        assert await pair.order(_A, leader=_B, epoch=2) == ErrorCode.FENCED_LEADER_EPOCH.value
        assert await pair.append(_A, 20) == 0

    run(tmp_path, story)


def test_what_not_all_have_is_seen_by_replicas_and_by_no_client(tmp_path: Path) -> None:
    """While the follower follows nobody a write that all must have is late, and one that the leader has is hidden."""

    async def story(pair: Pair) -> None:
        assert await pair.order(_A, leader=_A, epoch=0) == 0
        assert await pair.append(_A, 1, timeout_ms=100) == ErrorCode.REQUEST_TIME_OUT.value
        assert await pair.append(_A, 2, acks=1) == 0
        told = await pair.fetch(_A)
        assert (told.high_watermark, told.records) == (0, b"")
        assert (await pair.fetch(_A, follower=_B)).records == pair.log(_A)
        assert (await pair.fetch(_A, follower=9)).error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER.value
        assert await pair.order(_B, leader=_A, epoch=0) == 0
        assert await pair.append(_A, 3) == 0
        assert (await pair.fetch(_A)).high_watermark == 3

    run(tmp_path, story)


def test_what_was_never_committed_is_taken_back_after_a_change_of_leaders(tmp_path: Path) -> None:
    """The old leader compares with the new one, cuts, and has its bytes; writes that waited are refused."""

    async def story(pair: Pair) -> None:
        for number in (_A, _B):
            assert await pair.order(number, leader=_A, epoch=0) == 0
        assert await pair.append(_A, 1) == 0
        assert await pair.order(_B, leader=_B, epoch=1) == 0  # and A has not heard of it
        waiting = asyncio.create_task(pair.append(_A, 2))
        await until(lambda: len(pair.log(_A)) > len(pair.log(_B)))
        assert await pair.append(_B, 3, acks=1) == 0
        assert await pair.order(_A, leader=_B, epoch=1) == 0
        assert await waiting == ErrorCode.NOT_LEADER_OR_FOLLOWER.value
        await until(lambda: pair.log(_A) == pair.log(_B))
        assert await pair.append(_B, 4) == 0
        assert pair.log(_A) == pair.log(_B)
        assert (await pair.fetch(_B)).high_watermark == 3

    run(tmp_path, story)


def test_a_follower_that_is_ahead_is_sent_back(tmp_path: Path) -> None:
    """It asks behind the place at which the leader was elected, as an Apache follower may."""

    async def story(pair: Pair) -> None:
        assert await pair.order(_A, leader=_A, epoch=0) == 0
        assert await pair.append(_A, 1, acks=1) == 0
        one = PbFetchLogReqForBucket(bucket_id=0, fetch_offset=5, max_fetch_bytes=1 << 20)
        table = PbFetchLogReqForTable(table_id=_TABLE, projection_pushdown_enabled=False, buckets_req=(one,))
        request = FetchLogRequest(follower_server_id=_B, max_bytes=1 << 20, tables_req=(table,))
        answer = await pair.lines[_A].request(Api.FETCH_LOG, request)
        assert answer.tables_resp[0].buckets_resp[0].error_code == ErrorCode.LOG_OFFSET_OUT_OF_RANGE.value

    run(tmp_path, story)
