"""Retention that has passed a stream: an error that says what is lost, or what is left."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from query_reads import Reader
from server_process import ServerProcess

import lakeward
from lakeward.client.forms.results import BucketId
from lakeward.query.plan.splits import LogSplit
from lakeward.query.read.data_loss import DataLossError
from lakeward.query.read.read import read_split
from lakeward.query.request.request import ReadRequest
from lakeward.query.stream.admission import ReadLimit

BUCKET = BucketId(None, 0)
LENIENT = {"failOnDataLoss": "false"}


@pytest.fixture
def conn(new_server: Callable[..., ServerProcess]) -> Iterator[lakeward.Connection]:
    """A server that lets rows go at once."""
    server = new_server(
        log__retention__check_interval="50ms", log__segment__file_size="2kb", kv__snapshot__interval="100ms"
    )
    with lakeward.connect(server.bootstrap) as made:
        made.create_database("db")
        yield made


def shortened(conn: lakeward.Connection, name: str, between: Callable[[lakeward.Table], None]) -> lakeward.Table:
    """A table that has lost its beginning after `between` was done."""
    table = conn.create_table(name, "id BIGINT", buckets=1)
    table.append([{"id": i} for i in range(100)])
    between(table)
    conn.alter_table(name, set={"table.log.ttl": "200ms"})
    written = 100
    while table.offsets("earliest")[BUCKET] < 100:
        table.append([{"id": i} for i in range(written, written + 50)])
        written += 50
    conn.alter_table(name, set={"table.log.ttl": "1h"})
    return table


def test_rows_that_are_gone_are_named(conn: lakeward.Connection) -> None:
    """Table, bucket and offsets are in the error; asked to, the stream goes on with what is left."""
    readers: list[Reader] = []

    def begin(table: lakeward.Table) -> None:
        readers.extend(Reader(conn, str(table.path), options=o) for o in ({}, LENIENT, LENIENT))
        for reader in readers:
            assert len(reader.next(40)) == 40

    table = shortened(conn, "db.t", begin)
    strict, lenient, slow = readers
    start = table.offsets("earliest")[BUCKET]
    with pytest.raises(DataLossError, match=r"rows of db.t, bucket 0, offsets 40 to \d+, were removed") as told:
        strict.next()
    assert (str(told.value.table), told.value.bucket, told.value.start) == ("db.t", BUCKET, 40)
    assert told.value.stop is not None
    assert 40 < told.value.stop <= start
    left = table.scan().to_arrow()["id"].to_pylist()
    assert [r["id"] for r in lenient.rest()] == left
    assert [r["id"] for r in slow.next(5)] == left[:5]


def test_rows_that_go_between_plan_and_read(conn: lakeward.Connection) -> None:
    """A task says the same as the planner, or reads what is left of its split."""
    table = shortened(conn, "db.u", lambda _: None)
    start, stop = table.offsets("earliest")[BUCKET], table.offsets()[BUCKET]
    split = LogSplit(None, 0, 10, stop)
    with pytest.raises(DataLossError, match=f"offsets 10 to {start - 1}, were removed"):
        list(read_split(conn, ReadRequest.of_name("db.u"), split))
    rows = list(read_split(conn, ReadRequest.of_name("db.u", options=LENIENT), split))
    assert sum(b.num_rows for b in rows) == stop - start
    assert list(read_split(conn, ReadRequest.of_name("db.u", options=LENIENT), LogSplit(None, 0, 10, start))) == []


def test_a_binlog_begins_where_the_log_does(conn: lakeward.Connection) -> None:
    """What was before an update is looked for one offset earlier only where there is one."""
    table = conn.create_table("db.k", "id BIGINT, v BIGINT", primary_key=["id"], buckets=1)
    for version in range(3):
        table.upsert([{"id": i, "v": version} for i in range(50)])
    conn.alter_table("db.k", set={"table.log.ttl": "200ms"})
    version = 3
    while table.offsets("earliest")[BUCKET] < 100:
        table.upsert([{"id": i, "v": version} for i in range(50)])
        version += 1
    conn.alter_table("db.k", set={"table.log.ttl": "1h"})
    start = table.offsets("earliest")[BUCKET]
    rows = [
        row
        for batch in read_split(conn, ReadRequest.of_name("db.k$binlog"), LogSplit(None, 0, start, start + 10))
        for row in batch.to_pylist()
    ]
    assert [(r["_change_type"], r["before"] is not None) for r in rows] == [("update", True)] * 5


def test_a_log_that_ends_too_early(conn: lakeward.Connection) -> None:
    """An offset beyond the end of the log is loss too, not an empty batch for ever."""
    table: Any = conn.create_table("db.s", "id BIGINT", buckets=1)
    table.append([{"id": i} for i in range(10)])
    strict, lenient = Reader(conn, "db.s"), Reader(conn, "db.s", options=LENIENT)
    for reader in (strict, lenient):
        reader.next()
        ahead = {BUCKET: reader.at.buckets[BUCKET]._replace(offset=15)}
        reader.at = type(reader.at)(reader.at.table_id, ahead)
    with pytest.raises(DataLossError, match="ends at offset 10, but the stream has read up to 15"):
        strict.stream.latest(strict.at, ReadLimit())
    assert lenient.next() == []
    table.append([{"id": 10}])
    assert [r["id"] for r in lenient.next()] == [10]
