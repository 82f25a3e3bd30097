"""The fetch loop: what it asks, what it hands out, how it goes on after trouble."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pyarrow as pa
import pytest
from arrow_batches import arrow_batch, ids_batch
from fake_cluster import Asked, FakeCluster, table_info

from lakeward.client.log_decoder import LogDecoder
from lakeward.client.log_fetcher import LogFetcher
from lakeward.client.offsets import Place
from lakeward.client.results import BucketId
from lakeward.errors import ErrorCode, LakewardError
from lakeward.model import json_form
from lakeward.model.bucket import TableBucket
from lakeward.model.table import TableInfo
from lakeward.protocol.api import Api
from lakeward.protocol.messages.log import (
    FetchLogResponse,
    PbFetchLogRespForBucket,
    PbFetchLogRespForTable,
    PbRemoteLogFetchInfo,
    PbRemoteLogSegment,
)
from lakeward.protocol.messages.table import GetTableSchemaResponse

INFO = table_info("id BIGINT", buckets=4)


@pytest.fixture
async def cluster() -> AsyncIterator[FakeCluster]:
    """A cluster that answers when the test says so."""
    made = FakeCluster()
    yield made
    made.workers.shutdown()


def fetcher_of(
    cluster: FakeCluster, *, follow: bool = False, info: TableInfo = INFO, columns: list[str] | None = None
) -> LogFetcher:
    """A fetcher without subscriptions."""
    return LogFetcher(cluster, info, LogDecoder(info, columns), follow=follow)  # type: ignore[arg-type]


def place(bucket: int) -> Place:
    """A bucket of the test table."""
    return Place(TableBucket(7, None, bucket), BucketId(None, bucket))


def reply(asked: Asked, **buckets: bytes | ErrorCode) -> None:
    """Answer: b0=bytes or an error code for bucket 0; buckets not named are empty. The high watermark is 100."""
    (table,) = asked.message.tables_req
    found = []
    for bucket in table.buckets_req:
        said = buckets.get(f"b{bucket.bucket_id}", b"")
        if isinstance(said, ErrorCode):
            found.append(PbFetchLogRespForBucket(bucket_id=bucket.bucket_id, error_code=said.value))
        else:
            found.append(
                PbFetchLogRespForBucket(bucket_id=bucket.bucket_id, high_watermark=100, records=memoryview(bytes(said)))
            )
    table_reply = PbFetchLogRespForTable(table_id=7, buckets_resp=tuple(found))
    asked.answer.set_result(FetchLogResponse(tables_resp=(table_reply,)))


def offsets(asked: Asked) -> dict[int, int]:
    """What a request asks for: bucket to offset."""
    (table,) = asked.message.tables_req
    return {b.bucket_id: b.fetch_offset for b in table.buckets_req}


def ids(batch: pa.RecordBatch) -> list[int]:
    """The values of a batch."""
    return batch.column("id").to_pylist()


async def test_a_bounded_read_ends_at_its_end(cluster: FakeCluster) -> None:
    """Rows up to, not including, the end offset come out; then the iteration ends and nothing more is asked."""
    fetcher = fetcher_of(cluster)
    fetcher.subscribe(place(0), 10, 14)
    async with fetcher:
        reading = asyncio.ensure_future(anext(fetcher))
        asked = await cluster.channel.next()
        assert offsets(asked) == {0: 10}
        assert asked.message.max_wait_ms == 0
        reply(asked, b0=ids_batch(range(3), base_offset=10))
        assert ids(await reading) == [0, 1, 2]
        reading = asyncio.ensure_future(anext(fetcher))
        asked = await cluster.channel.next()
        assert offsets(asked) == {0: 13}
        reply(asked, b0=ids_batch(range(3, 9), base_offset=13))
        assert ids(await reading) == [3]
        with pytest.raises(StopAsyncIteration):
            await anext(fetcher)
        assert not cluster.channel.asked


async def test_an_empty_range_asks_nothing(cluster: FakeCluster) -> None:
    """A bucket whose start is its end is done before it begins."""
    fetcher = fetcher_of(cluster)
    fetcher.subscribe(place(0), 5, 5)
    async with fetcher:
        with pytest.raises(StopAsyncIteration):
            await anext(fetcher)
    assert not cluster.channel.asked


async def test_buckets_behind_are_fetched_side_by_side(cluster: FakeCluster) -> None:
    """Each of a few buckets has its own request, so that one answer is decoded while another is received."""
    fetcher = fetcher_of(cluster)
    for bucket in range(3):
        fetcher.subscribe(place(bucket), 0, 10)
    async with fetcher:
        reading = asyncio.ensure_future(anext(fetcher))
        asked = [await cluster.channel.next() for _ in range(3)]
        assert [offsets(a) for a in asked] == [{0: 0}, {1: 0}, {2: 0}]
        reply(asked[1], b1=ids_batch([7], base_offset=0))
        assert ids(await reading) == [7]


async def test_many_buckets_share_a_few_requests(cluster: FakeCluster) -> None:
    """A thousand buckets are not a thousand requests."""
    info = table_info("id BIGINT", buckets=1000)
    fetcher = fetcher_of(cluster, info=info)
    for bucket in range(1000):
        fetcher.subscribe(place(bucket), 0, 10)
    async with fetcher:
        reading = asyncio.ensure_future(anext(fetcher))
        asked = [await cluster.channel.next() for _ in range(4)]
        assert sum(len(offsets(a)) for a in asked) == 1000
        assert not cluster.channel.asked
        reading.cancel()


async def test_following_waits_at_the_server_once_caught_up(cluster: FakeCluster) -> None:
    """Behind, it asks at once; at the high watermark, it asks the server to wait."""
    fetcher = fetcher_of(cluster, follow=True)
    fetcher.subscribe(place(0), 99, None)
    async with fetcher:
        reading = asyncio.ensure_future(anext(fetcher))
        asked = await cluster.channel.next()
        assert asked.message.max_wait_ms == 0
        reply(asked, b0=ids_batch([1], base_offset=99))
        assert ids(await reading) == [1]
        asked = await cluster.channel.next()
        assert (offsets(asked), asked.message.max_wait_ms) == ({0: 100}, cluster.settings.fetch_wait_ms)
        reading = asyncio.ensure_future(anext(fetcher))
        reply(asked, b0=ids_batch([2], base_offset=100))
        assert ids(await reading) == [2]


async def test_a_lost_leader_is_looked_up_and_reading_goes_on(cluster: FakeCluster) -> None:
    """NOT_LEADER, a broken connection and the like never reach the reader."""
    fetcher = fetcher_of(cluster)
    fetcher.subscribe(place(0), 0, 1)
    async with fetcher:
        reading = asyncio.ensure_future(anext(fetcher))
        reply(await cluster.channel.next(), b0=ErrorCode.NOT_LEADER_OR_FOLLOWER)
        (await cluster.channel.next()).answer.set_exception(ErrorCode.NETWORK.error("gone"))
        asked = await cluster.channel.next()
        assert cluster.metadata.forgotten == [place(0).bucket] * 2
        reply(asked, b0=ids_batch([5]))
        assert ids(await reading) == [5]


async def test_an_offset_that_is_gone_is_told_with_advice(cluster: FakeCluster) -> None:
    """LOG_OFFSET_OUT_OF_RANGE names table, bucket and offset and says where to look."""
    fetcher = fetcher_of(cluster)
    fetcher.subscribe(place(2), 3, 9)
    async with fetcher:
        reading = asyncio.ensure_future(anext(fetcher))
        reply(await cluster.channel.next(), b2=ErrorCode.LOG_OFFSET_OUT_OF_RANGE)
        with pytest.raises(LakewardError, match=r"db\.t, bucket 2: offset 3 .* table\.offsets") as caught:
            await reading
        assert caught.value.code is ErrorCode.LOG_OFFSET_OUT_OF_RANGE


async def test_rows_fetched_before_a_failure_are_handed_out_first(cluster: FakeCluster) -> None:
    """An error in one bucket does not lose what another has delivered."""
    fetcher = fetcher_of(cluster)
    fetcher.subscribe(place(0), 0, 9)
    fetcher.subscribe(place(1), 0, 9)
    async with fetcher:
        reading = asyncio.ensure_future(anext(fetcher))
        first, second = await cluster.channel.next(), await cluster.channel.next()
        reply(first, b0=ids_batch([5]))
        reply(second, b1=ErrorCode.AUTHORIZATION)
        assert ids(await reading) == [5]
        with pytest.raises(LakewardError) as caught:
            await anext(fetcher)
        assert caught.value.code is ErrorCode.AUTHORIZATION


async def test_a_server_that_cannot_project_old_batches_is_asked_for_whole_rows(cluster: FakeCluster) -> None:
    """Then the reader projects, until batches of the newest schema come again."""
    info = table_info("id BIGINT, name STRING")
    fetcher = fetcher_of(cluster, info=info, columns=["id"])
    fetcher.subscribe(place(0), 0, 9)
    rows = pa.record_batch({"id": pa.array([1], pa.int64()), "name": pa.array(["x"])})
    async with fetcher:
        reading = asyncio.ensure_future(anext(fetcher))
        asked = await cluster.channel.next()
        assert asked.message.tables_req[0].projected_fields == (0,)
        reply(asked, b0=ErrorCode.INVALID_COLUMN_PROJECTION)
        asked = await cluster.channel.next()
        assert not asked.message.tables_req[0].projection_pushdown_enabled
        reply(asked, b0=arrow_batch(rows))
        assert (await reading).to_pylist() == [{"id": 1}]
        asked = await cluster.channel.next()
        assert asked.message.tables_req[0].projected_fields == (0,)


async def test_an_unknown_schema_is_asked_for(cluster: FakeCluster) -> None:
    """A batch of another schema id is decoded once the server has told what that schema is."""
    schema_json = json_form.dump(json_form.schema_to_json(INFO.schema))
    cluster.answers[Api.GET_TABLE_SCHEMA] = GetTableSchemaResponse(schema_id=9, schema_json=schema_json)
    fetcher = fetcher_of(cluster)
    fetcher.subscribe(place(0), 0, 1)
    async with fetcher:
        reading = asyncio.ensure_future(anext(fetcher))
        reply(await cluster.channel.next(), b0=ids_batch([3], schema_id=9))
        assert ids(await reading) == [3]


async def test_remote_segments_are_read_where_they_are(cluster: FakeCluster, tmp_path: Path) -> None:
    """The server points to a file; its rows come out, and the next fetch begins behind it."""
    (tmp_path / "u").mkdir()
    (tmp_path / "u" / f"{0:020d}.log").write_bytes(bytes(ids_batch([1, 2, 3], base_offset=0)))
    segment = PbRemoteLogSegment(
        remote_log_segment_id="u", remote_log_start_offset=0, remote_log_end_offset=3, segment_size_in_bytes=1
    )
    remote = PbRemoteLogFetchInfo(remote_log_tablet_dir=str(tmp_path), remote_log_segments=(segment,))
    fetcher = fetcher_of(cluster)
    fetcher.subscribe(place(0), 1, 9)
    async with fetcher:
        reading = asyncio.ensure_future(anext(fetcher))
        asked = await cluster.channel.next()
        bucket = PbFetchLogRespForBucket(bucket_id=0, high_watermark=9, remote_log_fetch_info=remote)
        table = PbFetchLogRespForTable(table_id=7, buckets_resp=(bucket,))
        asked.answer.set_result(FetchLogResponse(tables_resp=(table,)))
        assert ids(await reading) == [2, 3]
        assert offsets(await cluster.channel.next()) == {0: 3}


async def test_leaving_takes_back_what_was_asked(cluster: FakeCluster) -> None:
    """A reader that stops early leaves nothing behind."""
    fetcher = fetcher_of(cluster, follow=True)
    fetcher.subscribe(place(0), 0, None)
    async with fetcher:
        reading = asyncio.ensure_future(anext(fetcher))
        asked = await cluster.channel.next()
        reading.cancel()
    assert asked.answer.cancelled()
    await asyncio.sleep(0)
    assert not cluster.channel.asked
