"""A few rows of a log or of a primary key table."""

from __future__ import annotations

from typing import Any

from arrow_batches import ids_batch
from fake_cluster import FakeCluster, table_info

from lakeward.client.admin.offsets import TableOffsets
from lakeward.client.admin.partitions import Partitions
from lakeward.client.state.first_records import check_right
from lakeward.client.state.limit_scan import limit_scan
from lakeward.model.table import TableInfo
from lakeward.protocol.api import Api
from lakeward.protocol.messages.log import LimitScanRequest, LimitScanResponse


class Server(FakeCluster):
    """Answers LIMIT_SCAN bucket by bucket."""

    def __init__(self, *records: bytes) -> None:
        super().__init__()
        self.workers.shutdown()
        self.records = records
        self.asked: list[LimitScanRequest] = []

    async def leader(self, *_: Any) -> Any:
        """This server leads everything."""
        return self

    async def request(self, api: Api, message: LimitScanRequest, *, timeout_ms: float) -> LimitScanResponse:
        """The records of the bucket."""
        self.asked.append(message)
        return LimitScanResponse(records=memoryview(self.records[message.bucket_id]))


async def rows_of(server: Server, info: TableInfo, limit: int) -> list[dict]:
    """What head() gives."""
    return (await limit_scan(server, info, Partitions(server, info), limit)).to_pylist()  # type: ignore[arg-type]


async def test_the_latest_rows_of_a_log() -> None:
    """Whole batches come; the last rows are kept, and later buckets are asked for the rest only."""
    server = Server(bytes(ids_batch([1, 2, 3])), bytes(ids_batch([4, 5, 6])), b"")
    info = table_info("id BIGINT", buckets=3)
    assert [r["id"] for r in await rows_of(server, info, 2)] == [2, 3]
    assert len(server.asked) == 1
    assert [r["id"] for r in await rows_of(server, info, 4)] == [1, 2, 3, 6]
    assert [a.limit for a in server.asked[1:]] == [4, 1]


async def test_values_of_a_primary_key_table() -> None:
    """The worked example of the format reference: two values of schema 1."""
    records = bytes.fromhex("17000000 00 02000000 06000000 0100 00010178 04000000 0100 0202")
    info = table_info("a INT, b STRING, PRIMARY KEY (a) NOT ENFORCED")
    assert await rows_of(Server(records), info, 10) == [{"a": 1, "b": "x"}, {"a": 2, "b": None}]


async def test_the_right_to_read_is_asked_for_without_a_row() -> None:
    """One bucket is asked, for nothing: the first row of many keys is found by sorting them."""
    server = Server(b"", b"")
    info = table_info("id BIGINT", buckets=2)
    places = await TableOffsets(server, info, Partitions(server, info)).places()  # type: ignore[arg-type]
    await check_right(server, info, places)  # type: ignore[arg-type]
    assert [(a.bucket_id, a.limit) for a in server.asked] == [(0, 0)]


async def test_an_empty_table_has_its_columns() -> None:
    """No rows is no error."""
    info = table_info("id BIGINT")
    assert await rows_of(Server(b""), info, 10) == []
