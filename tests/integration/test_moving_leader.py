"""The leader of a bucket dies, and servers go on naming it until there is another one: whoever asks gets there."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pyarrow as pa
import pytest
from fake_cluster import PATH, FakeChannel, table_info
from log_fetches import place

from lakeward.client.cluster.cluster import Cluster
from lakeward.client.cluster.metadata_cache import Address
from lakeward.client.cluster.patience import ask_leader, patient_leader
from lakeward.client.cluster.writer_ids import WriterIdentity
from lakeward.client.forms.settings import ClientSettings
from lakeward.client.read.cursor import Cursor
from lakeward.client.read.cursor_mender import CursorMender
from lakeward.client.write import sender as sender_module
from lakeward.client.write.delivery import LogDelivery
from lakeward.client.write.lane import Outgoing
from lakeward.client.write.sender import Sender
from lakeward.errors import ErrorCode
from lakeward.model.bucket import TableBucket
from lakeward.protocol.api import Api
from lakeward.protocol.messages.log import PbProduceLogRespForBucket, ProduceLogResponse
from lakeward.protocol.messages.metadata import MetadataResponse, PbBucketMetadata, PbServerNode, PbTableMetadata
from lakeward.protocol.messages.shared import PbTablePath
from lakeward.records.arrow.log_batch_builder import encode_rows

INFO = table_info()
BUCKET = TableBucket(INFO.table_id, None, 0)
#: How often the dead one is named before its successor is.
_NAMED_TIMES = 3


class Servers(FakeChannel):
    """A pool of two servers, `dead` and `alive`; the second one is a channel, too, and knows who leads."""

    def __init__(self, *, is_silent: bool) -> None:
        super().__init__()
        self._is_silent = is_silent
        self.named = 0
        self.met = False

    def ready(self, host: str, port: int, purpose: str = "") -> FakeChannel | None:
        """The open channel."""
        return self if host == "alive" and self.met else None

    async def channel(self, host: str, port: int, purpose: str = "") -> FakeChannel:
        """Connect, or be refused, or wait for ever."""
        if host == "dead":
            if self._is_silent:
                await asyncio.Event().wait()
            raise ErrorCode.NETWORK.error("Cannot connect.")
        self.met = True
        return self

    def supports(self, api: Api) -> bool:
        """Everything."""
        return True

    def version(self, api: Api) -> int:
        """The newest."""
        return api.version_max

    async def request(self, api: Api, message: Any, *, timeout_ms: float = 0) -> Any:
        """Tell who leads; until its successor is chosen that is the dead one."""
        assert api is Api.GET_METADATA
        self.named += 1
        leader = 1 if self.named <= _NAMED_TIMES else 2
        table = PbTableMetadata(
            table_path=PbTablePath(database_name=PATH.database, table_name=PATH.table),
            table_id=INFO.table_id,
            schema_id=1,
            table_json=b"{}",
            bucket_metadata=(PbBucketMetadata(bucket_id=0, leader_id=leader),),
            created_time=0,
            modified_time=0,
        )
        nodes = tuple(PbServerNode(node_id=i, host=host, port=1) for i, host in ((1, "dead"), (2, "alive")))
        return MetadataResponse(tablet_servers=nodes, table_metadata=(table,))

    async def close(self) -> None:
        """Nothing is open."""


@pytest.fixture(params=["refuses", "is silent"])
async def servers(request: pytest.FixtureRequest) -> Servers:
    """The dead one either refuses connections or says nothing at all."""
    return Servers(is_silent=request.param == "is silent")


@pytest.fixture
async def cluster(servers: Servers) -> AsyncIterator[Cluster]:
    """A client that has heard of the dead one."""
    made = Cluster([Address("alive", 1)], ClientSettings(silence_ms=10))
    pool: Any = servers
    made.pool = made.metadata._pool = pool
    await made.metadata.refresh(PATH)
    assert made.metadata.leader(BUCKET) == Address("dead", 1)
    yield made
    await made.close()


async def test_a_batch_reaches_the_successor(
    cluster: Cluster, servers: Servers, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The writer that was under way goes on; nobody has to bring the dead one back."""

    async def info(*_: object) -> object:
        return INFO

    monkeypatch.setattr(sender_module, "table_info", info)
    ids: Any = None
    sender = Sender(cluster, INFO, LogDelivery(INFO), ids, WriterIdentity(5))
    rows = pa.record_batch({"id": pa.array([1], pa.int64()), "name": ["x"]})
    batch = Outgoing(rows.num_rows, rows.nbytes)
    sender.submit(BUCKET, None, batch)
    sender.fill(BUCKET, batch, encode_rows(rows))
    while not servers.asked:  # noqa: ASYNC110 - a test that waits too long is stopped
        await asyncio.sleep(0.01)
    reply = PbProduceLogRespForBucket(bucket_id=0, base_offset=0)
    servers.asked.pop().answer.set_result(ProduceLogResponse(buckets_resp=(reply,)))
    await sender.drain()
    assert sender.rows == 1
    assert servers.named > _NAMED_TIMES


async def test_a_scan_goes_on_with_the_successor(cluster: Cluster, servers: Servers) -> None:
    """A cursor whose leader has died comes back with a channel to the new one."""
    mended: asyncio.Queue[Cursor] = asyncio.Queue()

    def fail(*wrong: object) -> None:
        raise AssertionError(wrong)

    mender = CursorMender(cluster, INFO, mended.put_nowait, fail, fail)
    mender.mend(Cursor(place(0), 0, None))
    assert (await mended.get()).channel is servers
    mender.close()


async def test_a_question_reaches_the_successor(cluster: Cluster, servers: Servers) -> None:
    """Lookups and all other calls of a bucket's leader."""

    async def ask(channel: Any) -> bool:
        return channel is servers

    assert await ask_leader(cluster, PATH, BUCKET, None, ask)
    assert await patient_leader(cluster, PATH, BUCKET, None) is servers
    assert servers.named == _NAMED_TIMES + 1
