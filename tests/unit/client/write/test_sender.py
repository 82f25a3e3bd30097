"""Batches reach the leaders of their buckets; what fails is mended, and what cannot be mended is told."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pyarrow as pa
import pytest
from fake_cluster import Asked, FakeCluster, table_info

from lakeward.client.cluster.writer_ids import WriterIdentity
from lakeward.client.write.delivery import LogDelivery
from lakeward.client.write.lane import Outgoing
from lakeward.client.write.sender import Sender
from lakeward.errors import ErrorCode, LakewardError
from lakeward.model.bucket import TableBucket
from lakeward.protocol.messages.log import PbProduceLogRespForBucket, ProduceLogResponse
from lakeward.records.arrow.log_batch_builder import encode_rows
from lakeward.records.batch.batch_header import BatchHeader, read_header

INFO = table_info(buckets=2)


class Ids:
    """Hands out writer ids from 100 and remembers what came back."""

    def __init__(self) -> None:
        self.returned: list[WriterIdentity] = []
        self.next_id = 100

    def give_back(self, identity: WriterIdentity) -> None:
        """Noted."""
        self.returned.append(identity)

    async def fresh(self, path: object) -> int:
        """A new id."""
        self.next_id += 1
        return self.next_id


@pytest.fixture
async def cluster() -> AsyncIterator[FakeCluster]:
    """A cluster that answers when the test says so."""
    made = FakeCluster()
    yield made
    made.workers.shutdown()


@pytest.fixture
def ids() -> Ids:
    """Where writer ids come from."""
    return Ids()


@pytest.fixture
async def sender(cluster: FakeCluster, ids: Ids) -> Sender:
    """A sender of writer 5."""
    return Sender(cluster, INFO, LogDelivery(INFO), ids, WriterIdentity(5))  # type: ignore[arg-type]


def send(sender: Sender, *ids: int, bucket: int = 0) -> None:
    """Submit one batch of these rows."""
    rows = pa.record_batch({"id": pa.array(ids, pa.int64()), "name": pa.array(["x"] * len(ids))})
    target = TableBucket(INFO.table_id, None, bucket)
    batch = Outgoing(rows.num_rows, rows.nbytes)
    sender.submit(target, None, batch)
    sender.fill(target, batch, encode_rows(rows))


def headers(asked: Asked) -> list[BatchHeader]:
    """The header of each batch in a request."""
    return [read_header(bytes(b.records)) for b in asked.message.buckets_req]


def reply(asked: Asked, *codes: ErrorCode) -> None:
    """Answer bucket by bucket; no code is success."""
    found = []
    for i, bucket in enumerate(asked.message.buckets_req):
        code = codes[i] if i < len(codes) else ErrorCode.NONE
        found.append(
            PbProduceLogRespForBucket(bucket_id=bucket.bucket_id, error_code=code.value or None, base_offset=0)
        )
    asked.answer.set_result(ProduceLogResponse(buckets_resp=tuple(found)))


async def test_small_batches_of_several_buckets_share_a_request(cluster: FakeCluster, sender: Sender) -> None:
    """One request carries what is ready for one server."""
    send(sender, 1, bucket=0)
    send(sender, 2, bucket=1)
    asked = await cluster.channel.next()
    assert [b.bucket_id for b in asked.message.buckets_req] == [0, 1]
    assert (asked.message.table_id, asked.message.acks) == (7, -1)
    reply(asked)
    await sender.drain()
    assert (sender.rows, sender.batches, sender.unsettled_batches, sender.unsettled_bytes) == (2, 2, 0, 0)


async def test_batches_of_one_bucket_are_pipelined_with_growing_sequences(cluster: FakeCluster, sender: Sender) -> None:
    """Five may be in flight; each carries writer, sequence and row count."""
    for i in range(6):
        send(sender, *range(i + 1))
    asked = [await cluster.channel.next() for _ in range(5)]
    assert not cluster.channel.asked
    sent = [header for a in asked for header in headers(a)]
    assert [(h.writer_id, h.batch_sequence, h.record_count) for h in sent] == [(5, i, i + 1) for i in range(5)]
    reply(asked[0])
    (sixth,) = headers(await cluster.channel.next())
    assert sixth.batch_sequence == 5


async def test_a_lost_leader_is_found_and_the_batch_sent_again(cluster: FakeCluster, sender: Sender) -> None:
    """NOT_LEADER makes the metadata forget, and the same bytes go to whoever leads now."""
    send(sender, 1)
    first = await cluster.channel.next()
    reply(first, ErrorCode.NOT_LEADER_OR_FOLLOWER)
    again = await cluster.channel.next()
    assert cluster.metadata.forgotten == [TableBucket(7, None, 0)]
    assert headers(again) == headers(first)
    reply(again)
    await sender.drain()


async def test_a_refused_successor_waits_for_its_predecessor(cluster: FakeCluster, sender: Sender) -> None:
    """When the first of two fails for now, both go again, in order."""
    send(sender, 1)
    send(sender, 2)
    first, second = await cluster.channel.next(), await cluster.channel.next()
    reply(first, ErrorCode.LOG_STORAGE)
    reply(second, ErrorCode.OUT_OF_ORDER_SEQUENCE)
    again = [await cluster.channel.next(), await cluster.channel.next()]
    assert [h.batch_sequence for a in again for h in headers(a)] == [0, 1]
    for a in again:
        reply(a)
    await sender.drain()


async def test_whoever_waits_long_is_told_why_once(
    cluster: FakeCluster, sender: Sender, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A full disk refuses for as long as it is full: after two seconds that is said, and not again."""
    now = [10.0]
    monkeypatch.setattr(cluster.metadata, "attended_s", lambda: now[0])
    send(sender, 1)
    for turn in range(4):
        reply(await cluster.channel.next(), ErrorCode.DISK_WRITE_LOCKED)
        await asyncio.sleep(0)
        assert len(caplog.records) == (turn > 1)
        now[0] += 1.5
    assert "waiting: " in caplog.messages[0]
    reply(await cluster.channel.next())
    await sender.drain()


async def test_a_broken_connection_loses_nothing(cluster: FakeCluster, sender: Sender) -> None:
    """Whatever was in flight goes again under its own sequence."""
    send(sender, 1)
    send(sender, 2)
    for asked in [await cluster.channel.next(), await cluster.channel.next()]:
        asked.answer.set_exception(ErrorCode.NETWORK.error("gone"))
    again = [await cluster.channel.next(), await cluster.channel.next()]
    assert [h.batch_sequence for a in again for h in headers(a)] == [0, 1]
    for a in again:
        reply(a)
    await sender.drain()
    assert sender.rows == 2


async def test_a_forgotten_writer_goes_on_under_a_fresh_id(cluster: FakeCluster, sender: Sender, ids: Ids) -> None:
    """The server's writer state is gone: the batch is numbered anew and stored."""
    send(sender, 1)
    reply(await cluster.channel.next(), ErrorCode.UNKNOWN_WRITER_ID)
    again = await cluster.channel.next()
    assert [(h.writer_id, h.batch_sequence) for h in headers(again)] == [(101, 0)]
    reply(again)
    await sender.drain()
    sender.close()
    assert not ids.returned, "an identity that changed on the way is not handed on"


async def test_a_failure_is_told_with_the_place_and_stops_the_rest(
    cluster: FakeCluster, sender: Sender, ids: Ids
) -> None:
    """The first failure is raised, nothing more is sent, and the writer id is not used again."""
    for i in range(7):
        send(sender, i)
    asked = [await cluster.channel.next() for _ in range(5)]
    reply(asked[0], ErrorCode.AUTHORIZATION)
    with pytest.raises(LakewardError, match=r"db\.t, bucket 0") as caught:
        await sender.drain()
    assert caught.value.code is ErrorCode.AUTHORIZATION
    for a in asked[1:]:
        reply(a, ErrorCode.OUT_OF_ORDER_SEQUENCE)
    await asyncio.sleep(0)
    assert sender.unsettled_batches == 0
    assert not cluster.channel.asked
    sender.close()
    assert not ids.returned


async def test_a_request_that_fails_as_a_whole_fails_each_batch(cluster: FakeCluster, sender: Sender) -> None:
    """An ERROR frame counts for every bucket in the request."""
    send(sender, 1, bucket=0)
    send(sender, 2, bucket=1)
    (await cluster.channel.next()).answer.set_exception(ErrorCode.INVALID_REQUIRED_ACKS.error("acks"))
    with pytest.raises(LakewardError, match="acks"):
        await sender.drain()
    assert sender.unsettled_batches == 0


async def test_a_bucket_left_out_of_the_answer_is_a_failure(cluster: FakeCluster, sender: Sender) -> None:
    """Silence is never success."""
    send(sender, 1)
    (await cluster.channel.next()).answer.set_result(ProduceLogResponse())
    with pytest.raises(LakewardError, match="No answer"):
        await sender.drain()


async def test_a_clean_end_hands_the_writer_id_on(cluster: FakeCluster, sender: Sender, ids: Ids) -> None:
    """The next writer goes on where this one stopped."""
    send(sender, 1)
    reply(await cluster.channel.next())
    await sender.drain()
    sender.close()
    assert [(i.writer_id, i.next_sequences) for i in ids.returned] == [(5, {TableBucket(7, None, 0): 1})]


async def test_a_borrowed_identity_continues_its_sequences(cluster: FakeCluster, ids: Ids) -> None:
    """A bucket that this writer id has written to before goes on with the next number."""
    sender = Sender(cluster, INFO, LogDelivery(INFO), ids, WriterIdentity(5, {TableBucket(7, None, 0): 42}))  # type: ignore[arg-type]
    send(sender, 1)
    (header,) = headers(await cluster.channel.next())
    assert header.batch_sequence == 42


async def test_memory_in_flight_is_bounded(cluster: FakeCluster, sender: Sender) -> None:
    """`drain(n)` returns as soon as no more than n raw bytes are under way."""
    send(sender, *range(100), bucket=0)
    send(sender, *range(100), bucket=1)
    waiting = asyncio.ensure_future(sender.drain(sender.unsettled_bytes - 1))
    asked = await cluster.channel.next()
    assert not waiting.done()
    reply(asked)
    await waiting


async def test_retries_can_be_limited(ids: Ids) -> None:
    """`client.writer.retries` = 0 means one attempt."""
    cluster = FakeCluster(retries=0)
    sender = Sender(cluster, INFO, LogDelivery(INFO), ids, WriterIdentity(5))  # type: ignore[arg-type]
    send(sender, 1)
    reply(await cluster.channel.next(), ErrorCode.NOT_LEADER_OR_FOLLOWER)
    with pytest.raises(LakewardError):
        await sender.drain()
    cluster.workers.shutdown()
