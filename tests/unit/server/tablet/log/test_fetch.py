"""FETCH_LOG of many buckets: once an answer is full, the rest of the buckets is not looked into."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from lakeward.errors import ErrorCode
from lakeward.model.bucket import TableBucket
from lakeward.protocol.messages.log import (
    FetchLogRequest,
    PbFetchLogReqForBucket,
    PbFetchLogReqForTable,
    PbFetchLogRespForBucket,
)
from lakeward.rpc.dispatch import at_once
from lakeward.server.buckets.replication import Alone
from lakeward.server.tablet.log.fetch import Fetches, FetchLimits
from lakeward.storage.log.readable_log import LogRead

MANY = 1000
BATCH = 100


class Log:
    """A log with one batch, which counts how often it is looked into."""

    start_offset, end_offset = 0, 10

    def __init__(self, size: int = BATCH) -> None:
        self.reads = 0
        self.size = size

    def read(self, offset: int, bytes_max: int, *, at_least_one: bool, until: int) -> LogRead:
        """The batch, if it fits."""
        self.reads += 1
        if offset == self.end_offset:
            return LogRead(memoryview(b""), offset, reaches_end=True, end_offset=until)
        if bytes_max < self.size and not at_least_one:
            return LogRead(memoryview(b""), offset, reaches_end=False, end_offset=offset)
        return LogRead(memoryview(bytes(self.size)), 0, reaches_end=True, end_offset=10)


class Server:
    """Just enough around the handler; bucket 500 is led elsewhere."""

    def __init__(self, **logs: Log) -> None:
        self.logs = {number: logs.get(f"b{number}") or Log() for number in range(MANY)}
        self.asked_by: list[int] = []
        buckets = SimpleNamespace(table=self._table, replication=Alone())
        buckets.replication.follower_asks = lambda bucket, *_: self.asked_by.append(bucket.bucket)  # type: ignore[method-assign]
        logs_ = SimpleNamespace(open=lambda bucket: self.logs[bucket.bucket])
        unused: Any = None
        limits = FetchLimits(answer_bytes=1 << 20, waiting=1)
        self._fetches = Fetches(unused, buckets, logs_, unused, lambda _: None, limits, unused)  # type: ignore[arg-type]

    @staticmethod
    def _table(bucket: TableBucket) -> Any:
        if bucket.bucket == 500:
            raise ErrorCode.NOT_LEADER_OR_FOLLOWER.error("Elsewhere.")

    def fetch(self, max_bytes: int, follower: int = -1) -> tuple[PbFetchLogRespForBucket, ...]:
        """All buckets, from their start."""
        asked = tuple(
            PbFetchLogReqForBucket(bucket_id=number, fetch_offset=0, max_fetch_bytes=1 << 20) for number in range(MANY)
        )
        table = PbFetchLogReqForTable(table_id=1, projection_pushdown_enabled=False, buckets_req=asked)
        request = FetchLogRequest(follower_server_id=follower, max_bytes=max_bytes, tables_req=(table,))
        connection: Any = SimpleNamespace(state={}, active_at=0.0)
        answer: Any = at_once(self._fetches._read(request, connection))
        return tuple(answer.tables[0].buckets_resp)

    @property
    def looked_into(self) -> int:
        """How many buckets were read at all."""
        return sum(log.reads for log in self.logs.values())


@pytest.mark.parametrize("spare", [0, 1, BATCH - 1])
def test_a_full_answer_looks_into_no_more_buckets(spare: int) -> None:
    """Ten buckets fill it: the others cost neither a file nor a look at their rows."""
    server = Server()
    found = server.fetch(10 * BATCH + spare)
    assert [number for number, one in enumerate(found) if one.records] == list(range(10))
    assert server.looked_into < 30


def test_every_bucket_has_its_entry() -> None:
    """Clients look for each bucket they asked for: how far it goes, or why it cannot be read here."""
    found = Server().fetch(10 * BATCH)
    assert [one.bucket_id for one in found] == list(range(MANY))
    assert {one.high_watermark for one in found if not one.error_code} == {10}
    assert {one.bucket_id: one.error_code for one in found if one.error_code} == {
        500: ErrorCode.NOT_LEADER_OR_FOLLOWER.value
    }


def test_one_large_batch_does_not_hold_up_small_ones() -> None:
    """What is left may be too little for one bucket and enough for the next."""
    found = Server(b3=Log(5000)).fetch(10 * BATCH)
    assert [number for number, one in enumerate(found) if one.records] == [0, 1, 2, *range(4, 11)]


def test_a_first_batch_comes_however_large() -> None:
    """Without it a reader would never get on; after it the answer is full."""
    server = Server(b0=Log(5000))
    found = server.fetch(10)
    assert [number for number, one in enumerate(found) if one.records] == [0]
    assert server.looked_into == 1


def test_a_follower_is_heard_of_in_every_bucket() -> None:
    """It tells how far it is by asking: one that is late in one bucket must not seem to be late in all."""
    server = Server()
    server.fetch(10 * BATCH, follower=2)
    assert server.asked_by == [number for number in range(MANY) if number != 500]
