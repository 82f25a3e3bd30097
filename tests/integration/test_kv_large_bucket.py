"""A bucket of many rows: what takes long on it happens beside the loop, and everybody else is served meanwhile."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pyarrow as pa
import pytest
from server_process import ServerProcess
from wire_client import WireCluster
from wire_kv import WireKv
from wire_tables import WireTable, create_database

import lakeward
from lakeward.errors import ErrorCode
from lakeward.protocol.api import Api
from lakeward.protocol.messages.kv import (
    PbPrefixLookupReqForBucket,
    PbScanReqForBucket,
    PrefixLookupRequest,
    ScanKvRequest,
)
from lakeward.protocol.messages.log import LimitScanRequest, ListOffsetsRequest
from lakeward.records.batch.value_batch import parse_value_batch

#: Above what the server does at once (`LARGE_ROWS`), and above what it plays back at once.
ROWS = 60_000


@pytest.fixture
def table(cluster: WireCluster, database: str) -> WireKv:
    """A table with many rows in one bucket."""
    return filled(WireKv.create(cluster, database, "large"))


def filled(table: WireKv) -> WireKv:
    """Fill it."""
    table.upsert(*((i, f"row {i}", i) for i in range(ROWS)))
    return table


def offsets(table: WireTable) -> tuple[Api, Any]:
    """A request that is answered at once."""
    return Api.LIST_OFFSETS, ListOffsetsRequest(
        follower_server_id=-1, offset_type=1, table_id=table.table_id, bucket_id=(0,)
    )


def long_requests(table: WireKv) -> dict[str, tuple[Api, Any]]:
    """What has to look at all rows."""
    table_id = table.wire.table_id
    scan = PbScanReqForBucket(table_id=table_id, bucket_id=0)
    prefix = PbPrefixLookupReqForBucket(bucket_id=0, keys=(table.key(7),))
    return {
        "scan": (Api.SCAN_KV, ScanKvRequest(bucket_scan_req=scan, call_seq_id=0, batch_size_bytes=1 << 20)),
        "limit": (Api.LIMIT_SCAN, LimitScanRequest(table_id=table_id, bucket_id=0, limit=3)),
        "prefix": (Api.PREFIX_LOOKUP, PrefixLookupRequest(table_id=table_id, buckets_req=(prefix,))),
    }


@pytest.mark.parametrize("what", ["scan", "limit", "prefix"])
def test_others_are_answered_while_all_rows_are_looked_at(table: WireKv, what: str) -> None:
    """Asked in one breath, the short question is answered first although it came second."""
    tablet = table.wire.cluster.tablet
    long, short = tablet.send_all([long_requests(table)[what], offsets(table.wire)])
    first = tablet.receive()
    assert first.request_id == short
    tablet._early[first.request_id] = first
    answer = tablet.answer(long)
    tablet.answer(short)
    match what:
        case "scan":
            assert answer.has_more_results
            assert answer.log_offset == ROWS
        case "limit":
            assert len(parse_value_batch(answer.records)) == 3
        case _:
            ((found,),) = [values.values for values in answer.buckets_resp[0].value_lists]
            assert table.row(found) == (7, "row 7", 7)


def test_whether_somebody_may_read_is_answered_without_a_look_at_the_rows(table: WireKv) -> None:
    """No row is asked for: at once, however many there are, and with an empty batch."""
    tablet = table.wire.cluster.tablet
    nothing = Api.LIMIT_SCAN, LimitScanRequest(table_id=table.wire.table_id, bucket_id=0, limit=0)
    asked, other = tablet.send_all([nothing, offsets(table.wire)])
    first = tablet.receive()
    assert first.request_id == asked
    tablet._early[first.request_id] = first
    assert len(parse_value_batch(tablet.answer(asked).records)) == 0
    tablet.answer(other)


@pytest.mark.parametrize("what", ["scan", "limit", "prefix"])
def test_writes_to_the_bucket_come_after_what_came_before(table: WireKv, what: str) -> None:
    """A put that arrives while the state is taken hold of is no part of it, and none is lost."""
    tablet = table.wire.cluster.tablet
    put = Api.PUT_KV, table.put_request(table.batch([(-1, "new", 0), (7,)]))
    long, written = tablet.send_all([long_requests(table)[what], put])
    answer = tablet.answer(long)
    assert tablet.answer(written).buckets_resp[0].log_end_offset == ROWS + 2
    if what == "scan":
        rows = table.rows_of(answer)
        call = 0
        while answer.has_more_results:
            call += 1
            answer = table.scan_kv(scanner_id=answer.scanner_id, call_seq_id=call, batch_size_bytes=1 << 20)
            rows += table.rows_of(answer)
        assert sorted(rows) == [(i, f"row {i}", i) for i in range(ROWS)]
    elif what == "prefix":
        assert len(answer.buckets_resp[0].value_lists[0].values) == 1
    assert table.get(-1, 7) == [(-1, "new", 0), None]
    assert table.row_count() == ROWS


def test_a_scanner_answers_one_call_at_a_time(table: WireKv) -> None:
    """A second call that does not wait for the first one ends the scan."""
    tablet = table.wire.cluster.tablet
    opened = table.open_scan(batch_bytes=1000)
    calls = [
        (Api.SCAN_KV, ScanKvRequest(scanner_id=opened.scanner_id, call_seq_id=number, batch_size_bytes=1000))
        for number in (1, 2)
    ]
    first, second = tablet.send_all(calls)
    assert tablet.answer(second).error_code == ErrorCode.INVALID_SCAN_REQUEST.value
    assert not tablet.answer(first).error_code
    third = table.scan_kv(scanner_id=opened.scanner_id, call_seq_id=3, batch_size_bytes=1000)
    assert third.error_code == ErrorCode.UNKNOWN_SCANNER_ID.value


def test_a_bucket_comes_back_while_others_are_served(new_server: Callable[..., ServerProcess]) -> None:
    """After a crash its rows are played back beside the loop: only those wait who ask for them."""
    server = new_server()
    with WireCluster.of(server.bootstrap) as cluster:
        create_database(cluster, "kept")
        table = filled(WireKv.create(cluster, "kept", "large"))
        other = WireTable.create(cluster, "kept", "other")
    server.restart(kill=True)
    with WireCluster.of(server.bootstrap) as cluster:
        table, other = WireKv(replace(table.wire, cluster=cluster)), replace(other, cluster=cluster)
        small = WireKv.create(cluster, "kept", "small")
        small.upsert((1, "a", 1))  # the kernels are there
        tablet = cluster.tablet
        put = Api.PUT_KV, table.put_request(table.batch([(1, "new", 0)]))
        written, short = tablet.send_all([put, offsets(other)])
        first = tablet.receive()
        assert first.request_id == short
        tablet._early[first.request_id] = first
        assert tablet.answer(written).buckets_resp[0].log_end_offset == ROWS + 2
        assert table.row_count() == ROWS


@pytest.mark.long
def test_a_server_that_stops_writes_what_would_take_long_to_play_back(new_server: Callable[..., ServerProcess]) -> None:
    """Its next life begins with a snapshot, not with the whole changelog; a bucket of few rows is not worth one."""
    server = new_server()
    with lakeward.connect(server.bootstrap) as conn:
        many = conn.create_table("fluss.many", "id BIGINT NOT NULL, n BIGINT", primary_key=["id"], buckets=1)
        few = conn.create_table("fluss.few", "id BIGINT NOT NULL, n BIGINT", primary_key=["id"], buckets=1)
        ids = pa.array(range(250_000), pa.int64())
        many.upsert(pa.table({"id": ids, "n": ids}))
        few.upsert([{"id": 1, "n": 1}])
    server.restart()
    (snapshot,) = server.data_dir.rglob("snapshot-*/manifest.json")
    assert snapshot.relative_to(server.data_dir).parts[1].startswith("many")
    with lakeward.connect(server.bootstrap) as conn:
        assert conn.table("fluss.many").lookup([{"id": 249_999}]).to_pylist() == [{"id": 249_999, "n": 249_999}]
        assert conn.table("fluss.few").lookup([{"id": 1}]).to_pylist() == [{"id": 1, "n": 1}]
