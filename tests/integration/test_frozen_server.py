"""A server is frozen and keeps its connections: whoever waits for it finds out that the cluster goes on without it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from fake_cluster import PATH, table_info
from scripted_server import ScriptedServer

from lakeward.client.cluster.cluster import Cluster
from lakeward.client.cluster.direct_channel import DirectChannel
from lakeward.client.cluster.metadata_cache import Address
from lakeward.client.forms.settings import ClientSettings
from lakeward.client.tables.connection import AsyncConnection
from lakeward.client.tables.table import AsyncTable
from lakeward.errors import ErrorCode, LakewardError
from lakeward.model.json_form import descriptor_to_json, dump
from lakeward.protocol.api import Api
from lakeward.protocol.messages import kv, log, metadata
from lakeward.protocol.messages.shared import PbTablePath
from lakeward.protocol.messages.table import GetTableInfoRequest, GetTableInfoResponse
from lakeward.rpc.client_security import OPEN

_SILENCE_MS = 100
#: Without a look at the others a request is waited for so long.
_TIME_OUT_S = 30
_QUICK_S = 10


class TwoServers:
    """Two tablet servers that tell who leads; the first is coordinator, too, so that only the second may freeze."""

    def __init__(self, columns: str) -> None:
        self.info = table_info(columns)
        #: Who leads the one bucket, and is a server of the cluster.
        self.leader = 2
        self.members = (1, 2)
        script = {
            Api.GET_METADATA: self._metadata,
            Api.GET_TABLE_INFO: self._table,
            Api.INIT_WRITER: lambda _: log.InitWriterResponse(writer_id=9),
            Api.PRODUCE_LOG: lambda _: log.ProduceLogResponse(
                buckets_resp=(log.PbProduceLogRespForBucket(bucket_id=0, base_offset=0),)
            ),
            Api.PUT_KV: lambda _: kv.PutKvResponse(buckets_resp=(kv.PbPutKvRespForBucket(bucket_id=0),)),
            Api.LOOKUP: lambda _: kv.LookupResponse(
                buckets_resp=(kv.PbLookupRespForBucket(bucket_id=0, values=(kv.PbValue(),)),)
            ),
        }
        self.servers = {number: ScriptedServer(number, script) for number in (1, 2)}

    def elect(self) -> None:
        """The cluster has given the second one up."""
        self.leader, self.members = 1, (1,)

    def _metadata(self, asked: metadata.MetadataRequest) -> metadata.MetadataResponse:
        bucket = metadata.PbBucketMetadata(bucket_id=0, leader_id=self.leader)
        table = metadata.PbTableMetadata(
            table_path=PbTablePath(database_name=PATH.database, table_name=PATH.table),
            table_id=self.info.table_id,
            schema_id=1,
            table_json=b"{}",
            bucket_metadata=(bucket,),
            created_time=0,
            modified_time=0,
        )
        return metadata.MetadataResponse(
            coordinator_server=self.servers[1].node,
            tablet_servers=tuple(self.servers[number].node for number in self.members),
            table_metadata=(table,) if asked.table_path else (),
        )

    def _table(self, _: GetTableInfoRequest) -> GetTableInfoResponse:
        json = dump(descriptor_to_json(self.info.descriptor))
        return GetTableInfoResponse(
            table_id=self.info.table_id, schema_id=1, table_json=json, created_time=0, modified_time=0
        )


@pytest.fixture(params=["id BIGINT, name STRING", "id BIGINT, name STRING, PRIMARY KEY (id)"], ids=["log", "keyed"])
async def two(request: pytest.FixtureRequest) -> AsyncIterator[TwoServers]:
    """Both, listening."""
    made = TwoServers(request.param)
    async with made.servers[1], made.servers[2]:
        yield made


@pytest.fixture
async def table(two: TwoServers) -> AsyncIterator[AsyncTable]:
    """The table, of a client that has heard of the second server first."""
    addresses = [Address("127.0.0.1", two.servers[number].port) for number in (2, 1)]
    cluster = Cluster(addresses, ClientSettings(silence_ms=_SILENCE_MS))
    engine: Any = None
    async with AsyncConnection("", cluster, engine, {}) as conn:
        await cluster.metadata.refresh()
        yield await conn.table(PATH)


async def write(table: AsyncTable) -> None:
    """A row, acknowledged."""
    rows = [{"id": 1, "name": "x"}]
    await (table.upsert(rows) if table.info.descriptor.has_primary_key else table.append(rows))


async def test_a_write_under_way_goes_to_the_successor_under_its_number(two: TwoServers, table: AsyncTable) -> None:
    """The leader is frozen with it; what is sent again is the same batch, so that it is stored once."""
    await write(table)
    api = Api.PUT_KV if table.info.descriptor.has_primary_key else Api.PRODUCE_LOG
    two.servers[2].freeze()
    begun = time.monotonic()
    waiting = asyncio.ensure_future(write(table))
    await asyncio.sleep(5 * _SILENCE_MS / 1000)
    assert not waiting.done(), "it is a server of the cluster still, and may only be slow"
    two.elect()
    await waiting
    assert time.monotonic() - begun < _QUICK_S
    kept = [message.buckets_req[0].records for asked, message in two.servers[2].asked if asked is api]
    again = [message.buckets_req[0].records for asked, message in two.servers[1].asked if asked is api]
    assert [bytes(kept[-1])] == [bytes(one) for one in again]


@pytest.mark.long
async def test_a_slow_server_is_waited_for(two: TwoServers, table: AsyncTable) -> None:
    """While the cluster names it, nobody hangs up."""
    await write(table)
    two.servers[2].freeze()
    waiting = asyncio.ensure_future(write(table))
    await asyncio.sleep(5 * _SILENCE_MS / 1000)
    two.servers[2].thaw()
    await waiting
    assert two.servers[1].count(Api.PUT_KV) + two.servers[1].count(Api.PRODUCE_LOG) == 0


async def test_others_are_asked_who_leads(two: TwoServers, table: AsyncTable) -> None:
    """One that said nothing is asked last from then on: the second question is answered at once."""
    two.servers[2].freeze()
    cluster = table._cluster
    await cluster.metadata.refresh(PATH)
    before = two.servers[2].count(Api.GET_METADATA)
    for _ in range(5):
        await cluster.metadata.refresh(PATH)
    assert two.servers[2].count(Api.GET_METADATA) == before
    assert cluster.metadata.any_tablet() == Address("127.0.0.1", two.servers[1].port)


async def test_a_lookup_under_way_is_asked_of_the_successor(two: TwoServers, table: AsyncTable) -> None:
    """A question is asked again."""
    if not table.info.descriptor.has_primary_key:
        pytest.skip("logs have no keys")
    assert (await table.lookup([1])).num_rows == 1
    two.servers[2].freeze()
    two.elect()
    begun = time.monotonic()
    assert (await table.lookup([1])).num_rows == 1
    assert time.monotonic() - begun < _QUICK_S
    assert two.servers[1].count(Api.LOOKUP) == 1


@pytest.mark.parametrize("is_gone", [True, False])
async def test_a_thread_that_waits_on_a_line(two: TwoServers, is_gone: bool) -> None:
    """It gives up when it is told that the server is gone, and otherwise gets the answer when it comes."""
    frozen, asked = two.servers[2], 0

    def is_given_up() -> bool:
        nonlocal asked
        asked += 1
        return is_gone

    with ThreadPoolExecutor(1) as threads:
        line = await DirectChannel.open(
            "127.0.0.1",
            frozen.port,
            OPEN,
            threads,
            connect_timeout_ms=5000,
            timeout_ms=_TIME_OUT_S * 1000,
            silence_ms=_SILENCE_MS,
            is_given_up=is_given_up,
        )
        frozen.freeze()
        loop = asyncio.get_running_loop()
        question = loop.run_in_executor(threads, line.ask, Api.INIT_WRITER, log.InitWriterRequest())
        while not asked:  # noqa: ASYNC110 - a test that waits too long is stopped
            await asyncio.sleep(0.01)
        if is_gone:
            with pytest.raises(LakewardError, match="goes on without it") as caught:
                await question
            assert caught.value.code is ErrorCode.NETWORK
            assert line.closed
        else:
            frozen.thaw()
            assert (await question).writer_id == 9
        line.close()
