"""What requests look like, and how long a bucket under pressure is left alone."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest
from fake_cluster import Asked, FakeCluster, table_info

from lakeward.client.cluster.writer_ids import WriterIdentity
from lakeward.client.forms.settings import ClientSettings
from lakeward.client.write import sender as sender_module
from lakeward.client.write.delivery import PRESSURE_PAUSE_MS_MAX, KvDelivery, LogDelivery
from lakeward.client.write.lane import Outgoing
from lakeward.client.write.sender import Sender
from lakeward.errors import ErrorCode, UnsupportedError
from lakeward.model.bucket import TableBucket
from lakeward.protocol.messages.kv import PbPutKvRespForBucket, PutKvResponse

INFO = table_info("id BIGINT, a INT, PRIMARY KEY (id) NOT ENFORCED", buckets=2)


class Rows:
    """A batch that needs no sealing."""

    size = 4

    def seal(self, schema_id: int, writer_id: int, sequence: int) -> bytearray:
        """Who and which."""
        return bytearray([schema_id, writer_id, sequence])


def kv_delivery(*target_columns: int, check: Any = lambda channel, api: None) -> KvDelivery:
    """Changes of INFO."""
    return KvDelivery(INFO, target_columns, check)


@pytest.fixture
async def cluster() -> AsyncIterator[FakeCluster]:
    """A cluster that answers when the test says so."""
    made = FakeCluster()
    yield made
    made.workers.shutdown()


def send(sender: Sender, bucket: int = 0) -> None:
    """One batch."""
    target = TableBucket(INFO.table_id, None, bucket)
    batch = Outgoing(1, 4)
    sender.submit(target, None, batch)
    sender.fill(target, batch, Rows())


def reply(asked: Asked, pressure: float | None = None, code: ErrorCode = ErrorCode.NONE) -> None:
    """Answer every bucket alike."""
    asked.answer.set_result(
        PutKvResponse(
            buckets_resp=tuple(
                PbPutKvRespForBucket(
                    bucket_id=b.bucket_id, pressure=pressure, error_code=code.value or None, log_end_offset=1
                )
                for b in asked.message.buckets_req
            )
        )
    )


def test_a_request_names_table_buckets_and_columns() -> None:
    """PUT_KV with target columns; PRODUCE_LOG knows none."""
    batches = [(TableBucket(7, 5, 1), bytearray(b"x"))]
    put = kv_delivery(0, 1).request(batches, ClientSettings())
    assert (put.table_id, put.acks, put.timeout_ms, put.target_columns) == (7, -1, 30_000, (0, 1))
    assert [(b.partition_id, b.bucket_id, bytes(b.records)) for b in put.buckets_req] == [(5, 1, b"x")]
    log = LogDelivery(INFO).request(batches, ClientSettings(acks=1))
    assert (log.table_id, log.acks, len(log.buckets_req)) == (7, 1, 1)


def test_pressure_slows_down_by_its_square() -> None:
    """None, a little, and nearly too much."""
    delivery = kv_delivery()
    pauses = [delivery.pause_ms(PbPutKvRespForBucket(bucket_id=0, pressure=p)) for p in (None, 0.0, 0.5, 1.0)]
    assert pauses == [0, 0, PRESSURE_PAUSE_MS_MAX / 4, PRESSURE_PAUSE_MS_MAX]
    assert LogDelivery(INFO).pause_ms(None) == 0


async def test_a_bucket_under_pressure_rests_and_goes_on(cluster: FakeCluster) -> None:
    """What follows is sent when the pause is over, and nothing is lost."""
    sender = Sender(cluster, INFO, kv_delivery(), None, WriterIdentity(5))  # type: ignore[arg-type]
    send(sender)
    reply(await cluster.channel.next(), pressure=0.05)
    await sender.drain()
    send(sender)
    again = await cluster.channel.next()
    assert bytes(again.message.buckets_req[0].records) == bytes([1, 5, 1])
    reply(again)
    await sender.drain()
    assert sender.rows == 2


async def test_a_store_that_refuses_more_gets_the_same_batch_again(
    cluster: FakeCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    """STORAGE_BACKPRESSURE is no failure: the batch waits, longer than for other errors."""
    monkeypatch.setattr(sender_module, "PRESSURE_PAUSE_MS_MAX", 1.0)
    sender = Sender(cluster, INFO, kv_delivery(), None, WriterIdentity(5))  # type: ignore[arg-type]
    send(sender)
    first = await cluster.channel.next()
    reply(first, code=ErrorCode.STORAGE_BACKPRESSURE)
    again = await cluster.channel.next()
    assert bytes(again.message.buckets_req[0].records) == bytes(first.message.buckets_req[0].records)
    reply(again)
    await sender.drain()


async def test_a_server_that_would_misread_the_keys_gets_none(cluster: FakeCluster) -> None:
    """The check comes before the first batch."""

    def refuse(channel: Any, api: Any) -> None:
        raise ErrorCode.UNSUPPORTED_VERSION.error("too old")

    sender = Sender(cluster, INFO, kv_delivery(check=refuse), None, WriterIdentity(5))  # type: ignore[arg-type]
    send(sender)
    with pytest.raises(UnsupportedError, match=r"Upsert into db\.t, bucket 0, failed: too old"):
        await sender.drain()
    assert not cluster.channel.asked
