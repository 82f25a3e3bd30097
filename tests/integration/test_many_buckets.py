"""Ten thousand buckets: handles and memory stay bounded, starting stays quick."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pytest
from arrow_batches import ids_batch, read_rows
from server_process import ServerProcess
from wire_client import WireCluster
from wire_tables import LATEST, WireTable, create_database

import lakeward
from lakeward.client.cluster.metadata_cache import MetadataCache
from lakeward.protocol.api import Api
from lakeward.protocol.messages.log import PbProduceLogReqForBucket, ProduceLogRequest
from lakeward.protocol.messages.metadata import MetadataRequest
from lakeward.protocol.messages.shared import PbTablePath
from lakeward.runtime.process.child import Child

TABLES, BUCKETS = 4, 2500
WRITTEN = range(0, BUCKETS, 5)
IDS = pa.schema([("id", pa.int64())])
FILES_MAX = 1000
MEMORY_BYTES_MAX = 250 << 20


def write_everywhere(table: WireTable, first: int) -> None:
    """One batch to each of five hundred buckets, in one request."""
    buckets = tuple(
        PbProduceLogReqForBucket(bucket_id=number, records=bytes(ids_batch([first, number]))) for number in WRITTEN
    )
    request = ProduceLogRequest(acks=-1, table_id=table.table_id, timeout_ms=30_000, buckets_req=buckets)
    answers = table.cluster.tablet.call(Api.PRODUCE_LOG, request).buckets_resp
    assert len(answers) == len(WRITTEN)
    assert not any(answer.error_code for answer in answers)


def assert_modest(server: ServerProcess) -> None:
    """Neither handles nor memory grow with the number of buckets."""
    assert server.open_files < FILES_MAX
    assert server.memory_bytes < MEMORY_BYTES_MAX


@pytest.mark.long
@pytest.mark.slow
def test_ten_thousand_buckets(new_server: Callable[..., ServerProcess]) -> None:
    """Tables of 10,000 buckets in all, 2,000 of them with rows: written, killed, started, read, written again."""
    server = new_server(starter=Child)
    paths = [PbTablePath(database_name="wide", table_name=f"t{number}") for number in range(TABLES)]
    with WireCluster.of(server.bootstrap) as cluster:
        create_database(cluster, "wide")
        for path in paths:
            table = WireTable.create(cluster, "wide", path.table_name, bucket_count=BUCKETS)
            write_everywhere(table, 0)
        assert_modest(server)
    server.restart(kill=True)
    assert_modest(server)
    with WireCluster.of(server.bootstrap) as cluster:
        metadata = cluster.tablet.call(Api.GET_METADATA, MetadataRequest(table_path=tuple(paths)))
        assert [len(table.bucket_metadata) for table in metadata.table_metadata] == [BUCKETS] * TABLES
        for path in paths:
            table = WireTable.find(cluster, path)
            write_everywhere(table, 1)
            for number in WRITTEN[::50]:
                assert table.offset(LATEST, bucket=number) == 4
                rows = read_rows(table.fetch(-2, bucket=number).records, IDS)
                assert [row["id"] for row in rows] == [0, number, 1, number]
            assert table.offset(LATEST, bucket=1) == 0
        assert_modest(server)
    assert server.stop() == 0
    server.start()
    with WireCluster.of(server.bootstrap) as cluster:
        assert WireTable.find(cluster, paths[0]).offset(LATEST, bucket=0) == 4


@pytest.mark.slow
def test_a_fetch_of_thousands_of_buckets_waits_and_wakes(new_server: Callable[..., ServerProcess]) -> None:
    """One reader may wait for all buckets of a wide table; a row in any of them wakes it."""
    server = new_server(starter=Child)
    with WireCluster.of(server.bootstrap) as cluster:
        create_database(cluster, "wide")
        table = WireTable.create(cluster, "wide", "t", bucket_count=BUCKETS)
        request = table.fetch_request(*[0] * BUCKETS, max_wait_ms=50_000, min_bytes=1)
        waiting = cluster.tablet.send(Api.FETCH_LOG, request)
        table.append(ids_batch([42]), bucket=BUCKETS - 1)
        (answer,) = cluster.tablet.answer(waiting).tables_resp
        rows = {bucket.bucket_id: bytes(bucket.records) for bucket in answer.buckets_resp}
        assert len(rows) == BUCKETS
        assert [row["id"] for row in read_rows(rows[BUCKETS - 1], IDS)] == [42]
        assert not any(records for bucket, records in rows.items() if bucket != BUCKETS - 1)
        assert_modest(server)


def test_a_writer_of_many_buckets_asks_a_few_times_who_leads_them(
    server: ServerProcess, database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each bucket asked by itself, and was told of all: 20,000 rows to 4,000 buckets took minutes."""
    asked: list[object] = []
    ask = MetadataCache._refresh

    async def count(self: MetadataCache, *about: Any) -> None:
        asked.append(about)
        await ask(self, *about)

    monkeypatch.setattr(MetadataCache, "_refresh", count)
    with lakeward.connect(server.bootstrap) as conn:
        table = conn.create_table(f"{database}.wide", "id BIGINT", buckets=500, bucket_by="id")
        table.append(pa.table({"id": range(5000)}))
        assert len(asked) < 10
        assert table.scan().to_arrow().num_rows == 5000
