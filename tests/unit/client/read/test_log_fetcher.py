"""The fetch loop: what it asks, what it hands out, how it goes on after trouble."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pyarrow as pa
import pytest
from arrow_batches import arrow_batch, ids_batch
from fake_cluster import Asked, FakeCluster, table_info
from log_fetches import ids, place, point_to, read_all
from remote_segments import batches, fetch_info, put_segment, told

from lakeward.client.cluster.workers import Workers
from lakeward.client.decode.log_decoder import LogDecoder
from lakeward.client.forms.damage import Damage
from lakeward.client.read.log_fetcher import LogFetcher
from lakeward.client.remote.directory_source import DirectorySource
from lakeward.errors import CorruptError, ErrorCode, LakewardError
from lakeward.model import json_form
from lakeward.model.table import TableInfo
from lakeward.protocol.api import Api
from lakeward.protocol.messages.log import (
    FetchLogResponse,
    PbFetchLogRespForBucket,
    PbFetchLogRespForTable,
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


async def test_buckets_that_got_nothing_are_asked_for_first(cluster: FakeCluster) -> None:
    """An answer is full after its first buckets, again and again: without turns the last ones would be read at last."""
    info = table_info("id BIGINT", buckets=12)
    fetcher = fetcher_of(cluster, info=info)
    for bucket in range(12):
        fetcher.subscribe(place(bucket), 0, 10)
    async with fetcher:
        reading = asyncio.ensure_future(anext(fetcher))
        asked = [await cluster.channel.next() for _ in range(4)]
        assert list(offsets(asked[0])) == [0, 1, 2]
        reply(asked[0], b0=ids_batch([7], base_offset=0))
        assert ids(await reading) == [7]
        again = await cluster.channel.next()
        assert list(offsets(again).items()) == [(1, 0), (2, 0), (0, 1)]


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


@pytest.mark.parametrize("prefix", ["", "file://", "file:"])
async def test_remote_segments_are_read_where_they_are(cluster: FakeCluster, tmp_path: Path, prefix: str) -> None:
    """The server points to files; their rows come out from the asked offset on, and the next fetch begins behind."""
    data = batches(0, 3)
    first = put_segment(tmp_path, "u", 0, 30, data)
    second = put_segment(tmp_path, "v", 30, 60, batches(30, 3))
    fetcher = fetcher_of(cluster)
    fetcher.subscribe(place(0), 13, 90)
    async with fetcher:
        reading = asyncio.ensure_future(anext(fetcher))
        info = fetch_info(f"{prefix}{tmp_path}", [first, second], first_byte=len(data) // 3)
        point_to(await cluster.channel.next(), info)
        assert ids(await reading) + ids(await anext(fetcher)) == list(range(13, 60))
        assert offsets(await cluster.channel.next()) == {0: 60}


async def test_a_remote_read_ends_at_its_end(cluster: FakeCluster, tmp_path: Path) -> None:
    """Nothing is asked behind the last offset that is wanted, neither of the server nor of the store."""
    segment = put_segment(tmp_path, "u", 0, 30, batches(0, 3))
    behind = told("not-there", 30, 60, 1000)
    fetcher = fetcher_of(cluster)
    fetcher.subscribe(place(0), 0, 15)
    async with fetcher:
        reading = asyncio.ensure_future(read_all(fetcher))
        point_to(await cluster.channel.next(), fetch_info(str(tmp_path), [segment, behind]))
        assert ids(*await reading) == list(range(15))
        assert not cluster.channel.asked


async def test_the_server_is_asked_again_when_a_segment_is_gone(cluster: FakeCluster, tmp_path: Path) -> None:
    """It may have expired, or the server may have put it elsewhere meanwhile."""
    segment = put_segment(tmp_path, "u", 0, 30, batches(0, 3))
    fetcher = fetcher_of(cluster)
    fetcher.subscribe(place(0), 0, 30)
    async with fetcher:
        reading = asyncio.ensure_future(read_all(fetcher))
        point_to(await cluster.channel.next(), fetch_info(str(tmp_path / "gone"), [segment]))
        again = await cluster.channel.next()
        assert offsets(again) == {0: 0}
        point_to(again, fetch_info(str(tmp_path), [segment]))
        assert ids(*await reading) == list(range(30))


async def test_a_segment_that_stays_gone_ends_the_scan(cluster: FakeCluster, tmp_path: Path) -> None:
    """One sentence, with table, bucket and file; not for ever the same question."""
    fetcher = fetcher_of(cluster)
    fetcher.subscribe(place(0), 0, 30)
    info = fetch_info(str(tmp_path), [told("u", 0, 30, 1000)])
    asked = 0
    async with fetcher:
        reading = asyncio.ensure_future(anext(fetcher))
        while not reading.done():
            if cluster.channel.asked:
                asked += 1
                point_to(cluster.channel.asked.pop(), info)
            await asyncio.sleep(0)
        with pytest.raises(
            LakewardError, match=r"db\.t, bucket 0: .*u/00000000000000000000\.log is not there"
        ) as caught:
            await reading
    assert asked == 5
    assert caught.value.code is ErrorCode.STORAGE


async def test_a_damaged_segment_ends_the_scan(cluster: FakeCluster, tmp_path: Path) -> None:
    """What came before it is handed out; then the file is named, once."""
    data = bytearray(batches(0, 3))
    data[-5] ^= 1
    segment = put_segment(tmp_path, "u", 0, 40, bytes(data[: len(data) // 3]))
    fetcher = fetcher_of(cluster)
    fetcher.subscribe(place(0), 0, 40)
    async with fetcher:
        reading = asyncio.ensure_future(anext(fetcher))
        point_to(await cluster.channel.next(), fetch_info(str(tmp_path), [segment]))
        assert ids(await reading) == list(range(10))
        with pytest.raises(LakewardError, match="ends at offset 10, not at 40") as caught:
            await anext(fetcher)
    assert caught.value.code is ErrorCode.CORRUPT_RECORD


async def test_other_stores_are_named(cluster: FakeCluster) -> None:
    """A store that we cannot read is told, not guessed at."""
    fetcher = fetcher_of(cluster)
    fetcher.subscribe(place(0), 0, 30)
    async with fetcher:
        reading = asyncio.ensure_future(anext(fetcher))
        point_to(await cluster.channel.next(), fetch_info("oss://bucket/log", [told("u", 0, 30, 9)]))
        with pytest.raises(LakewardError, match="oss://bucket/log") as caught:
            await reading
    assert caught.value.code is ErrorCode.UNSUPPORTED_VERSION


async def test_a_slow_reader_holds_remote_reads_back(
    cluster: FakeCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is mapped and not yet handed out is bounded, however large the segment."""
    monkeypatch.setattr("lakeward.client.read.log_fetcher._BUFFERED_BYTES_MAX", 256 << 10)
    monkeypatch.setattr(DirectorySource, "piece_bytes", 64 << 10)
    segment = put_segment(tmp_path, "u", 0, 200_000, batches(0, 200, rows=1000))
    assert segment.segment_size_in_bytes > 1 << 20
    fetcher = fetcher_of(cluster)
    fetcher.subscribe(place(0), 0, 200_000)
    async with fetcher:
        reading = asyncio.ensure_future(anext(fetcher))
        point_to(await cluster.channel.next(), fetch_info(str(tmp_path), [segment]))
        rows = (await reading).num_rows
        while fetcher._queue.buffered_bytes < 200 << 10:  # noqa: ASYNC110 - a turn of the loop is all it takes
            await asyncio.sleep(0)
        for _ in range(100):
            await asyncio.sleep(0)
            assert fetcher._queue.buffered_bytes < 400 << 10
        rows += sum([batch.num_rows async for batch in fetcher])
    assert rows == 200_000


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


async def test_damage_that_a_server_tells_ends_the_read(cluster: FakeCluster) -> None:
    """It is not asked for again: the error has the server's sentence, the place, and the way past it."""
    for code in (ErrorCode.CORRUPT_RECORD, ErrorCode.CORRUPT_MESSAGE):
        fetcher = fetcher_of(cluster)
        async with fetcher:
            fetcher.subscribe(place(0), 4, 10)
            reply(await cluster.channel.next(), b0=code)
            with pytest.raises(CorruptError, match=r"db\.t, bucket 0, offset 4 cannot be read.*skip_damaged"):
                await read_all(fetcher)
            assert not cluster.channel.asked


async def test_a_bad_batch_that_cannot_be_projected_is_asked_for_whole(cluster: FakeCluster) -> None:
    """Then the reader sees which batch it is, and what lies around it."""
    info = table_info("id BIGINT, name STRING")
    fetcher = fetcher_of(cluster, info=info, columns=["id"])
    async with fetcher:
        fetcher.subscribe(place(0), 0, 2)
        reply(await cluster.channel.next(), b0=ErrorCode.CORRUPT_RECORD)
        asked = await cluster.channel.next()
        assert not asked.message.tables_req[0].projection_pushdown_enabled
        rows = pa.record_batch({"id": [1, 2], "name": ["a", "b"]})
        reply(asked, b0=bytes(arrow_batch(rows)))
        assert ids(*await read_all(fetcher)) == [1, 2]


async def test_a_jump_between_batches_is_noted(cluster: FakeCluster) -> None:
    """Offsets that were given up are not passed silently, at the beginning of an answer or within it."""
    damage = Damage(INFO.path)
    fetcher = LogFetcher(cluster, INFO, LogDecoder(INFO, damage=damage), follow=False, damage=damage)  # type: ignore[arg-type]
    async with fetcher:
        fetcher.subscribe(place(0), 0, 12)
        reply(await cluster.channel.next(), b0=bytes(ids_batch([1], base_offset=2) + ids_batch([2], base_offset=9)))
        reply(await cluster.channel.next(), b0=bytes(ids_batch([3, 4], base_offset=10)))
        assert ids(*await read_all(fetcher)) == [1, 2, 3, 4]
    assert [(one.start, one.stop, one.missing) for one in damage.left_out] == [(0, 2, True), (3, 9, True)]


@pytest.mark.parametrize("says", ["What lies before and from offset 7 on can be read.", "It is damaged."])
async def test_a_range_that_a_server_has_lost_is_skipped_by_intent(cluster: FakeCluster, says: str) -> None:
    """The scan goes on at the first offset that can be read: as the server says, or found by asking."""
    damage = Damage(INFO.path, skips=True)
    fetcher = LogFetcher(cluster, INFO, LogDecoder(INFO, damage=damage), follow=False, damage=damage)  # type: ignore[arg-type]
    probes = 0

    async def serve() -> None:
        nonlocal probes
        while True:
            asked = await cluster.channel.next()
            (offset,) = offsets(asked).values()
            probes += 1
            if 3 <= offset < 7:
                bad = PbFetchLogRespForBucket(
                    bucket_id=0, error_code=ErrorCode.CORRUPT_RECORD.value, error_message=says
                )
                answer = PbFetchLogRespForTable(table_id=7, buckets_resp=(bad,))
                asked.answer.set_result(FetchLogResponse(tables_resp=(answer,)))
            else:
                first = 0 if offset < 3 else 7
                reply(asked, b0=bytes(ids_batch([first, first + 1, first + 2], base_offset=first)))

    serving = asyncio.create_task(serve())
    async with fetcher:
        fetcher.subscribe(place(0), 0, 10)
        assert ids(*await read_all(fetcher)) == [0, 1, 2, 7, 8, 9]
    serving.cancel()
    assert [(one.start, one.stop, one.missing) for one in damage.left_out] == [(3, 7, False)]
    assert probes < 10


async def test_offsets_that_a_server_passes_over_without_a_filter_are_noted(cluster: FakeCluster) -> None:
    """It had nothing to leave out, so nothing is there; and the read goes on after it."""
    damage = Damage(INFO.path)
    fetcher = LogFetcher(cluster, INFO, LogDecoder(INFO, damage=damage), follow=False, damage=damage)  # type: ignore[arg-type]
    async with fetcher:
        fetcher.subscribe(place(0), 0, 9)
        asked = await cluster.channel.next()
        data = memoryview(bytes(ids_batch([1, 2])))
        told = PbFetchLogRespForBucket(bucket_id=0, high_watermark=9, records=data, filtered_end_offset=12)
        answer = PbFetchLogRespForTable(table_id=7, buckets_resp=(told,))
        asked.answer.set_result(FetchLogResponse(tables_resp=(answer,)))
        assert ids(*await read_all(fetcher)) == [1, 2]
    assert [(one.start, one.stop, one.missing) for one in damage.left_out] == [(2, 9, True)]


async def test_a_read_whose_connection_is_closed_under_it_ends(cluster: FakeCluster) -> None:
    """An answer may come when there is nobody left to decode it."""
    workers = cluster.workers = Workers(1, "test-closed")
    fetcher = fetcher_of(cluster)
    async with fetcher:
        fetcher.subscribe(place(0), 0, 9000)
        reading = asyncio.ensure_future(anext(fetcher))
        asked = await cluster.channel.next()
        workers.end()
        reply(asked, b0=ids_batch(range(9000)))
        with pytest.raises(LakewardError, match="closed meanwhile"):
            await asyncio.wait_for(reading, 10)
