"""All values of a bucket by a cursor on the server: asked for in order, closed when left."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
from fake_cluster import Asked, FakeCluster, table_info

from lakeward.client.admin.offsets import Place
from lakeward.client.forms.results import BucketId
from lakeward.client.state.value_scans import ValueScan
from lakeward.errors import ErrorCode, LakewardError
from lakeward.model.bucket import TableBucket
from lakeward.protocol.api import Api
from lakeward.protocol.messages.kv import ScanKvResponse
from lakeward.records.batch.value_batch import encode_value_batch
from lakeward.records.kernels.spans import Spans

INFO = table_info("id INT, PRIMARY KEY (id) NOT ENFORCED")
PLACE = Place(TableBucket(7, 5, 2), BucketId("p", 2))


class Cluster(FakeCluster):
    """Requests wait for the test's answer."""

    def __init__(self) -> None:
        super().__init__()
        self.workers.shutdown()

        async def request(api: Api, message: Any, *, timeout_ms: float) -> Any:
            return await self.channel.post(api, message)

        self.channel.request = request  # type: ignore[attr-defined]


def answer(asked: Asked, count: int, *, more: bool) -> None:
    """So many values; whether the scan goes on."""
    records = memoryview(bytes(encode_value_batch(Spans.of([b"\1\0v"] * count))))
    asked.answer.set_result(
        ScanKvResponse(scanner_id=b"cursor" if more else None, has_more_results=more, records=records, log_offset=9)
    )


async def scan(cluster: Cluster) -> AsyncIterator[Spans]:
    """The scan of the place, closed when it is left."""
    begun = await ValueScan.open(cluster, INFO, PLACE)  # type: ignore[arg-type]
    try:
        async for values in begun.values():
            yield values
    finally:
        begun.close()


async def read(cluster: Cluster, sizes: list[int]) -> None:
    """Read the scan to its end."""
    async for values in scan(cluster):
        sizes.append(len(values))  # noqa: PERF401 - the test looks at it on the way


async def test_a_scan_goes_on_until_there_is_no_more() -> None:
    """Opened with the bucket, continued with the cursor and rising numbers, the next asked for before it is needed."""
    cluster, sizes = Cluster(), []
    reading = asyncio.ensure_future(read(cluster, sizes))
    opening = await cluster.channel.next()
    bucket = opening.message.bucket_scan_req
    assert (opening.api, bucket.table_id, bucket.partition_id, bucket.bucket_id) == (Api.SCAN_KV, 7, 5, 2)
    assert (opening.message.call_seq_id, opening.message.scanner_id) == (0, None)
    answer(opening, 3, more=True)
    second = await cluster.channel.next()
    assert (second.message.scanner_id, second.message.call_seq_id) == (b"cursor", 1)
    answer(second, 2, more=True)
    third = await cluster.channel.next()
    assert third.message.call_seq_id == 2
    answer(third, 1, more=False)
    await reading
    assert sizes == [3, 2, 1]
    assert not cluster.channel.asked, "a scan that ended needs no closing"


async def test_an_empty_bucket_is_one_empty_answer() -> None:
    """No cursor, no second request."""
    cluster, sizes = Cluster(), []
    reading = asyncio.ensure_future(read(cluster, sizes))
    (await cluster.channel.next()).answer.set_result(ScanKvResponse(has_more_results=False, log_offset=0))
    await reading
    assert sizes == [0]


async def test_leaving_early_closes_the_cursor() -> None:
    """The server need not keep it until it expires."""
    cluster = Cluster()
    values = scan(cluster)
    first = asyncio.ensure_future(anext(values))
    answer(await cluster.channel.next(), 3, more=True)
    await first
    await values.aclose()  # type: ignore[attr-defined]
    ahead, closing = await cluster.channel.next(), await cluster.channel.next()
    assert ahead.answer.cancelled()
    assert (closing.message.scanner_id, closing.message.close_scanner) == (b"cursor", True)


async def test_a_refusal_names_table_and_bucket() -> None:
    """At the opening or later."""
    cluster = Cluster()
    reading = asyncio.ensure_future(read(cluster, []))
    answer(await cluster.channel.next(), 1, more=True)
    expired = ScanKvResponse(error_code=ErrorCode.SCANNER_EXPIRED.value, error_message="too late")
    (await cluster.channel.next()).answer.set_result(expired)
    with pytest.raises(LakewardError, match=r"db\.t, bucket p/2: too late") as caught:
        await reading
    assert caught.value.code is ErrorCode.SCANNER_EXPIRED
