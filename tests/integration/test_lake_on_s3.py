"""A lake in a bucket: tiering, union reads, the cold part, SQL; Iceberg and Paimon, on a real SeaweedFS."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from faulty_proxy import Faults, FaultyProxy
from lake_tables import S3Warehouse, read_by_duckdb, read_by_pyiceberg
from paimon_readers import read_by_paimon_rust
from seaweed import Bucket, SeaweedFs
from server_process import ServerProcess
from tiering_runs import TIERED

import lakeward
from lakeward.client.admin.lake import TieringRound
from lakeward.errors import LakewardError
from lakeward.lake.catalog_of import catalog_of
from lakeward.lake.port import KeepsHouse
from lakeward.runtime.clock import SystemClock
from lakeward.tiering.round.catalogs import LakeCatalogs
from lakeward.tiering.round.round import RoundContext, RoundReport, run_round
from lakeward.tiering.round.runner import LocalRunner

pytestmark = pytest.mark.slow
FORMATS = ("iceberg", "paimon")


@pytest.fixture
def warehouse(s3: Bucket) -> S3Warehouse:
    """A new warehouse in a bucket of its own."""
    return S3Warehouse(s3)


@pytest.fixture
def conn(server: ServerProcess, warehouse: S3Warehouse) -> Iterator[lakeward.Connection]:
    """A connection that knows it."""
    with lakeward.connect(server.bootstrap, lake=warehouse.properties) as opened:
        yield opened


def tiered(conn: lakeward.Connection, table: lakeward.Table, warehouse: S3Warehouse) -> RoundReport:
    """One round, at once."""
    clock = SystemClock()
    runner = LocalRunner(lambda _: conn, clock)
    context = RoundContext(
        conn=conn, catalogs=LakeCatalogs(warehouse.properties), runner=runner, clock=clock, bootstrap="", client={}
    )
    return run_round(context, TieringRound(table.info.table_id, table.path, 0, 1))


def properties(format_: str) -> dict[str, str]:
    """Of a table in the lake."""
    return {**TIERED, "table.datalake.format": format_}


@pytest.mark.covering("iceberg")
@pytest.mark.parametrize("format_", FORMATS)
def test_a_log_table_is_one_with_its_bucket(
    conn: lakeward.Connection, warehouse: S3Warehouse, database: str, format_: str
) -> None:
    """Cold rows from the bucket, hot ones from the log, each once; and back in time."""
    log = conn.create_table(f"{database}.log", "id BIGINT, name STRING", buckets=2, properties=properties(format_))
    log.append([{"id": i, "name": f"n{i % 3}"} for i in range(90)])
    first = tiered(conn, log, warehouse)
    log.append([{"id": i, "name": "hot"} for i in range(90, 120)])
    assert log.query("SELECT count(*) AS n, sum(id) AS s FROM t").to_pylist() == [{"n": 120, "s": sum(range(120))}]
    assert conn.sql(f'SELECT count(*) AS n FROM {database}."log$lake"').to_pylist() == [{"n": 90}]
    tiered(conn, log, warehouse)
    assert log.query("SELECT count(*) AS n FROM t WHERE name = 'hot'", {"scan.tiers": "lake"}).to_pylist() == [
        {"n": 30}
    ]
    then = log.query("SELECT count(*) AS n FROM t", {"scan.snapshot-id": str(first.snapshot_id)})
    assert then.to_pylist() == [{"n": 90}]
    readers = {"iceberg": (read_by_pyiceberg, read_by_duckdb), "paimon": (read_by_paimon_rust,)}
    for read in readers[format_]:
        assert len(read(warehouse, str(log.path))) == 120


@pytest.mark.covering("paimon")
@pytest.mark.parametrize("format_", FORMATS)
def test_a_primary_key_table_is_merged_with_its_bucket(
    conn: lakeward.Connection, warehouse: S3Warehouse, database: str, format_: str
) -> None:
    """Changes since the snapshot are laid over files of the bucket, deletes among them."""
    table = conn.create_table(
        f"{database}.users",
        "id BIGINT NOT NULL, name STRING",
        primary_key=["id"],
        buckets=2,
        properties=properties(format_),
    )
    table.upsert([{"id": i, "name": "first"} for i in range(100)])
    tiered(conn, table, warehouse)
    table.upsert([{"id": i, "name": "second"} for i in range(10)])
    table.delete([{"id": i} for i in range(50, 60)])
    tiered(conn, table, warehouse)
    table.upsert([{"id": i, "name": "third"} for i in range(5, 15)])
    table.delete([{"id": i} for i in range(60, 70)])
    got = table.query("SELECT * FROM t ORDER BY id").to_pylist()
    assert got == sorted(table.snapshot().to_pylist(), key=lambda row: row["id"])


@pytest.mark.covering("iceberg")
@pytest.mark.parametrize("format_", FORMATS)
def test_a_house_in_a_bucket_is_kept(
    conn: lakeward.Connection, warehouse: S3Warehouse, database: str, format_: str
) -> None:
    """Small files become few, what nobody needs goes, and every row stays."""
    log = conn.create_table(f"{database}.log", "id BIGINT", buckets=1, properties=properties(format_))
    for n in range(10):
        log.append([{"id": n}])
        tiered(conn, log, warehouse)
    lake = catalog_of(log.info, warehouse.properties).ensure(log.info)
    assert isinstance(lake, KeepsHouse)
    assert lake.compact() == 10
    assert lake.orphans(SystemClock().now_ms() + 60_000) == []
    before = len(warehouse.rglob("*.parquet"))
    lake.expire(SystemClock().now_ms() + 100 * 24 * 3_600_000)
    assert log.query("SELECT sum(id) AS s FROM t").to_pylist() == [{"s": 45}]
    assert len(warehouse.rglob("*.parquet")) <= before


@pytest.mark.covering("paimon")
@pytest.mark.parametrize("format_", FORMATS)
def test_keys_to_remote_storage_open_the_lake_too(
    server: ServerProcess, conn: lakeward.Connection, warehouse: S3Warehouse, database: str, format_: str
) -> None:
    """Options of a connection are for everything that it reads from S3."""
    log = conn.create_table(f"{database}.log", "id BIGINT", buckets=1, properties=properties(format_))
    log.append([{"id": 1}])
    tiered(conn, log, warehouse)
    with lakeward.connect(server.bootstrap, lake={"warehouse": str(warehouse)}, **warehouse.bucket.settings) as other:
        assert other.sql(f'SELECT * FROM {database}."log$lake"').to_pylist() == [{"id": 1}]


@pytest.mark.covering("iceberg")
@pytest.mark.parametrize("format_", FORMATS)
def test_a_bucket_that_does_not_let_us_in_is_told_in_a_sentence(
    server: ServerProcess, conn: lakeward.Connection, warehouse: S3Warehouse, database: str, format_: str
) -> None:
    """The cold part alone cannot be had without it; no key is in the message."""
    log = conn.create_table(f"{database}.log", "id BIGINT", buckets=1, properties=properties(format_))
    log.append([{"id": 1}])
    tiered(conn, log, warehouse)
    wrong = {**warehouse.properties, "s3.secret-key": "not-the-secret"}
    with lakeward.connect(server.bootstrap, lake=wrong) as stranger:
        with pytest.raises(LakewardError, match="cannot be opened") as told:
            stranger.sql(f'SELECT * FROM {database}."log$lake"')
        assert "not-the-secret" not in str(told.value)
        assert stranger.table(f"{database}.log").query("SELECT id FROM t").num_rows == 1  # the log has it all


@pytest.mark.covering("paimon")
@pytest.mark.parametrize("format_", FORMATS)
def test_a_bucket_with_bad_days_loses_nothing(
    server: ServerProcess, s3: Bucket, database: str, format_: str, seaweed: SeaweedFs
) -> None:
    """One call in ten is answered with 503, and the answer to a commit is lost: each row is there, once."""
    with FaultyProxy(seaweed.endpoint) as proxy:
        warehouse = S3Warehouse(replace(s3, endpoint=proxy.endpoint))
        with lakeward.connect(server.bootstrap, lake=warehouse.properties) as conn:
            log = conn.create_table(f"{database}.log", "id BIGINT", buckets=1, properties=properties(format_))
            proxy.faults = Faults(busy_share=0.1)
            for n in range(5):
                log.append([{"id": n}])
                tiered(conn, log, warehouse)
            for n in range(5, 8):
                proxy.faults = Faults(lambda asked: "if-none-match" in asked.headers, loses_answer=True, times=1)
                log.append([{"id": n}])
                tiered(conn, log, warehouse)
                assert len(proxy.faults.seen) == 1
            proxy.faults = Faults()
            cold = conn.sql(f'SELECT id FROM {database}."log$lake" ORDER BY id').to_pylist()
            assert [row["id"] for row in cold] == list(range(8))
