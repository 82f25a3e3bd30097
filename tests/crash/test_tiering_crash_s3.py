"""The same service with its lake in a bucket: killed at every step, no row is lost, none is there twice."""

from __future__ import annotations

import json
import os
import random
from collections.abc import Callable

import pytest
from lake_tables import S3Warehouse, read_by_duckdb
from seaweed import Bucket
from server_process import ServerProcess
from service_lives import Lives
from tiering_runs import TIERED

import lakeward
from lakeward.lake.catalog_of import catalog_of
from lakeward.lake.iceberg.bucket_catalog import BucketCatalog
from lakeward.lake.port import KeepsHouse

ROUNDS = int(os.environ.get("S3_TIERING_CRASH_ROUNDS", "8"))
STEPS = (
    "before files",
    "in a file",
    "after files",
    "before the lake commit",
    "before the hint",
    "after the lake commit",
    "before the report",
    "after the report",
)


@pytest.mark.long
@pytest.mark.crash
@pytest.mark.timeout(3600)
def test_a_service_that_is_killed_at_every_step_beside_a_bucket(
    new_server: Callable[..., ServerProcess], s3: Bucket
) -> None:
    """After each life the bucket holds the log exactly up to the offsets it names; at the end it holds all of it."""
    chance, warehouse = random.Random(20261115), S3Warehouse(s3)
    bootstrap = new_server().bootstrap
    with lakeward.connect(bootstrap, lake=warehouse.properties) as conn:
        conn.create_database("shop")
        log = conn.create_table("shop.log", "id BIGINT, name STRING", buckets=2, properties=TIERED)
        lives = Lives(bootstrap, json.dumps(warehouse.properties), "shop")
        try:
            for number in range(ROUNDS):
                step = STEPS[number % len(STEPS)]
                log.append([{"id": number * 100 + i, "name": step} for i in range(chance.randrange(1, 100))])
                assert lives.live(step) == "killed", step
                _assert_exact(warehouse, log)
                assert log.query("SELECT count(*) AS n FROM t").to_pylist() == [{"n": log.count()}]
            assert lives.live("none") == "0"
        finally:
            lives.close()
        rows = read_by_duckdb(warehouse, "shop.log")
        assert sorted(r["id"] for r in rows) == sorted(log.scan(["id"]).to_arrow()["id"].to_pylist())
        lake = catalog_of(log.info, warehouse.properties).ensure(log.info)
        assert isinstance(lake, KeepsHouse)
        lake.remove(lake.orphans(10**13))
        assert lake.orphans(10**13) == []
        assert len(read_by_duckdb(warehouse, "shop.log")) == len(rows)


def _assert_exact(warehouse: S3Warehouse, table: lakeward.Table) -> None:
    """By the lake's own word: each offset below a bucket's end is there, once, and none beyond."""
    found = catalog_of(table.info, warehouse.properties).load(table.path)
    latest = None if found is None else found.latest()
    if latest is None:
        return
    assert latest.offsets is not None
    rows = BucketCatalog("any", **warehouse.properties).load_table(("shop", "log")).scan().to_arrow().to_pylist()
    for bucket, end in latest.offsets.items():
        assert sorted(r["__offset"] for r in rows if r["__bucket"] == bucket.bucket) == list(range(end))
    assert len(rows) == sum(latest.offsets.values())
