"""Two tablet servers of ours with one bucket between them, ordered about over sockets as an Apache coordinator does.

What counts of remote storage is kept as that one keeps it: in nodes like those of its ZooKeeper, and in files.
"""

from __future__ import annotations

import asyncio
import json
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

A, B, TABLE = 1, 2, 7
_PATH = PbTablePath(database_name="fluss", table_name="two")
_BUCKET = f"/tabletservers/tables/{TABLE}/buckets/0"
MANIFEST_NODE = f"{_BUCKET}/remote_logs"
SNAPSHOT_NODES = f"{_BUCKET}/snapshots"


class Coordinator:
    """Says yes to every in-sync set and, of the leader's epoch, to every commit."""

    def __init__(self) -> None:
        self.isr: tuple[int, ...] = (A, B)
        self.bucket_epoch = 0
        self.leader_epoch = 0
        self.nodes: dict[str, bytes] = {}
        #: What is done with the next commit, in place of what should be.
        self.next_commit: Callable[[], Any] | None = None
        self._numbers: dict[str, int] = {}
        #: Its ZooKeeper does not answer.
        self.is_silent = False

    async def ask(self, api: Api, request: Any) -> Any:
        """What a tablet server reports."""
        match api:
            case Api.ADJUST_ISR:
                return self._adjust(request)
            case Api.COMMIT_REMOTE_LOG_MANIFEST:
                return self._commit(request, self._manifest)
            case Api.COMMIT_KV_SNAPSHOT:
                return self._commit(request, self._snapshot)
        raise ErrorCode.NETWORK.error("There is only a test.")

    def _adjust(self, request: reports.AdjustIsrRequest) -> reports.AdjustIsrResponse:
        asked = request.tables_req[0].buckets_req[0]
        self.isr, self.bucket_epoch = tuple(asked.new_isr), self.bucket_epoch + 1
        one = reports.PbAdjustIsrRespForBucket(bucket_id=0, isr=self.isr, bucket_epoch=self.bucket_epoch)
        table = reports.PbAdjustIsrRespForTable(table_id=TABLE, buckets_resp=(one,))
        return reports.AdjustIsrResponse(tables_resp=(table,))

    def _commit(self, request: Any, take: Callable[[Any], Any]) -> Any:
        odd, self.next_commit = self.next_commit, None
        if request.bucket_leader_epoch < self.leader_epoch:
            raise ErrorCode.FENCED_LEADER_EPOCH.error("Another server leads.")
        if odd is None:
            return take(request)
        take(request)
        return odd()

    def _manifest(self, request: reports.CommitRemoteLogManifestRequest) -> reports.CommitRemoteLogManifestResponse:
        named = {
            "version": 1,
            "remote_log_manifest_path": request.remote_log_manifest_path,
            "remote_log_end_offset": request.remote_log_end_offset,
        }
        self.nodes[MANIFEST_NODE] = json.dumps(named).encode()
        return reports.CommitRemoteLogManifestResponse(commit_success=True)

    def _snapshot(self, request: reports.CommitKvSnapshotRequest) -> reports.CommitKvSnapshotResponse:
        told = json.loads(request.completed_snapshot)
        path = Path(f"{told['snapshot_location']}/_METADATA")
        path.write_bytes(request.completed_snapshot)
        named = {
            "version": 1,
            "snapshot_id": told["snapshot_id"],
            "log_offset": told["log_offset"],
            "metadata_path": str(path),
        }
        self.nodes[f"{SNAPSHOT_NODES}/{told['snapshot_id']}"] = json.dumps(named).encode()
        return reports.CommitKvSnapshotResponse()

    # -- its ZooKeeper

    async def take_number(self, path: str, count: int = 1) -> int:
        """The first of some numbers."""
        number = self._numbers.get(path, 0)
        self._numbers[path] = number + count
        return number

    async def read(self, path: str) -> bytes | None:
        """What a node holds."""
        if self.is_silent:
            raise ErrorCode.NETWORK.error("ZooKeeper did not answer.")
        return self.nodes.get(path)

    async def children(self, path: str) -> list[str]:
        """The names below a node."""
        return [one.removeprefix(f"{path}/") for one in self.nodes if one.startswith(f"{path}/")]

    def manifest_path(self) -> Path | None:
        """Where the manifest is that counts."""
        node = self.nodes.get(MANIFEST_NODE)
        return None if node is None else Path(json.loads(node)["remote_log_manifest_path"])

    def manifest(self) -> dict[str, Any] | None:
        """The manifest that counts."""
        path = self.manifest_path()
        if path is None:
            return None
        found: dict[str, Any] = json.loads(path.read_bytes())
        return found

    def snapshots(self) -> list[dict[str, Any]]:
        """The snapshots that count."""
        return [json.loads(node) for path, node in self.nodes.items() if path.startswith(f"{SNAPSHOT_NODES}/")]


class Pair:
    """Both servers, and a line to each."""

    def __init__(
        self, directory: Path, columns: tuple[tuple[str, str], ...], parts: Any, pairs: tuple[str, ...]
    ) -> None:
        """`columns` and `parts` are the table's, `pairs` are options of both servers."""
        self._directory = directory
        self._table_json = table_json(*columns, **parts)
        self._pairs = pairs
        self.coordinator = Coordinator()
        self._pool = ChannelPool()
        self._nodes: dict[int, Node] = {}
        self.lines: dict[int, Channel] = {}

    async def start(self) -> None:
        """Both come up and hear of the table."""
        for number in (A, B):
            await self._start(number)
        await self._tell()

    async def _start(self, number: int) -> None:
        pairs = [f"data.dir={self._directory / str(number)}", "bind.listeners=FLUSS://localhost:0"]
        coordinator: Any = self.coordinator
        seat = Seat(self._pool, coordinator, "FLUSS", coordinator, coordinator)
        options = ServerOptions.of(pairs=[*pairs, "log.replica.fetch.backoff-interval=50ms", *self._pairs])
        doors = Doors.of_this_machine()
        self._nodes[number] = await start_node(options, doors, member=Membership(number, coordinator), seat=seat)
        self.lines[number] = await Channel.open("localhost", self._nodes[number].addresses[0].port)

    async def _tell(self) -> None:
        servers = tuple(
            PbServerNode(node_id=number, host="localhost", port=node.addresses[0].port)
            for number, node in self._nodes.items()
        )
        table = PbTableMetadata(
            table_path=_PATH,
            table_id=TABLE,
            schema_id=1,
            table_json=self._table_json,
            created_time=0,
            modified_time=0,
        )
        for line in self.lines.values():
            await line.request(
                Api.UPDATE_METADATA, orders.UpdateMetadataRequest(tablet_servers=servers, table_metadata=(table,))
            )

    async def restart(self, number: int) -> None:
        """One of them goes and comes back with what is on its disk."""
        self.lines[number].close()
        await self._nodes.pop(number).stop()
        await self._start(number)
        await self._tell()

    async def stop(self) -> None:
        """Everything ends."""
        for number in list(self._nodes):
            self.lines[number].close()
            await self._nodes[number].stop()
        await self._pool.close()

    async def order(self, number: int, leader: int, epoch: int) -> int:
        """Tell one of them who leads; the error that it answers, 0 where it obeys."""
        self.coordinator.leader_epoch = max(epoch, self.coordinator.leader_epoch)
        one = orders.PbNotifyLeaderAndIsrReqForBucket(
            physical_table_path=PbPhysicalTablePath(database_name="fluss", table_name="two"),
            table_bucket=PbTableBucket(table_id=TABLE, bucket_id=0),
            leader=leader,
            leader_epoch=epoch,
            replicas=(A, B),
            isr=self.coordinator.isr,
            bucket_epoch=self.coordinator.bucket_epoch,
        )
        request = orders.NotifyLeaderAndIsrRequest(coordinator_epoch=0, notify_buckets_leader_req=(one,))
        answer = await self.lines[number].request(Api.NOTIFY_LEADER_AND_ISR, request)
        return answer.notify_buckets_leader_resp[0].error_code or 0

    async def lead(self, leader: int, epoch: int) -> None:
        """One of them leads from now on, and both know it."""
        for number in (leader, A + B - leader):
            assert await self.order(number, leader, epoch) == 0

    async def tell_copied(self, number: int) -> None:
        """A follower hears what the coordinator tells it after a commit."""
        manifest = self.coordinator.manifest()
        assert manifest is not None
        segments = manifest["remote_log_segments"]
        request = orders.NotifyRemoteLogOffsetsRequest(
            table_id=TABLE,
            bucket_id=0,
            coordinator_epoch=0,
            remote_start_offset=segments[0]["start_offset"],
            remote_end_offset=segments[-1]["end_offset"],
        )
        await self.lines[number].request(Api.NOTIFY_REMOTE_LOG_OFFSETS, request)

    async def tell_kept(self, number: int, offset: int) -> None:
        """A follower hears from where on the state is rebuilt."""
        request = orders.NotifyKvSnapshotOffsetRequest(
            table_id=TABLE, bucket_id=0, coordinator_epoch=0, min_retain_offset=offset
        )
        await self.lines[number].request(Api.NOTIFY_KV_SNAPSHOT_OFFSET, request)

    async def append(self, number: int, value: int, *, acks: int = -1, timeout_ms: int = 5000) -> int:
        """Append a row; the error that is answered, 0 where it is kept."""
        return await self.append_batch(number, bytes(ids_batch([value])), acks=acks, timeout_ms=timeout_ms)

    async def append_batch(self, number: int, batch: bytes, *, acks: int = -1, timeout_ms: int = 5000) -> int:
        """The same with rows as they go over the wire."""
        one = PbProduceLogReqForBucket(bucket_id=0, records=batch)
        request = ProduceLogRequest(acks=acks, table_id=TABLE, timeout_ms=timeout_ms, buckets_req=(one,))
        answer = await self.lines[number].request(Api.PRODUCE_LOG, request)
        return answer.buckets_resp[0].error_code or 0

    async def fetch(self, number: int, *, follower: int = -1, offset: int = 0) -> PbFetchLogRespForBucket:
        """Everything from an offset on, as a client or as a replica."""
        one = PbFetchLogReqForBucket(bucket_id=0, fetch_offset=offset, max_fetch_bytes=1 << 20)
        table = PbFetchLogReqForTable(table_id=TABLE, projection_pushdown_enabled=False, buckets_req=(one,))
        request = FetchLogRequest(follower_server_id=follower, max_bytes=1 << 20, tables_req=(table,))
        answer = await self.lines[number].request(Api.FETCH_LOG, request)
        found: PbFetchLogRespForBucket = answer.tables_resp[0].buckets_resp[0]
        return found

    def files(self, number: int) -> list[Path]:
        """The log files that one of them has."""
        return sorted((self._directory / str(number)).glob("**/*.log"))

    def starts_at(self, number: int) -> int:
        """The first offset that one of them still has."""
        return int(self.files(number)[0].stem)

    async def looked(self) -> None:
        """Time enough for everything that is done by the clock."""
        await asyncio.sleep(0.5)

    def log(self, number: int) -> bytes:
        """The bytes that one of them has."""
        return b"".join(path.read_bytes() for path in self.files(number))


def run(
    tmp_path: Path,
    story: Callable[[Pair], Awaitable[None]],
    *options: str,
    columns: tuple[tuple[str, str], ...] = (("id", "BIGINT"),),
    **parts: Any,
) -> None:
    """A story of two servers and a table."""

    async def tell() -> None:
        pair = Pair(tmp_path, columns, parts, options)
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
