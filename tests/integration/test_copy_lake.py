"""lakeward copy of tables with a lake: it is handed over, and tiering and union reads go on at the target."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from cli_process import Cli
from copies import copy
from lake_tables import read_by_pyiceberg
from server_process import ServerProcess

import lakeward

pytestmark = pytest.mark.slow
_LAKE = ("--set", "table.datalake.enabled=true", "--set", "table.datalake.freshness=100ms")


@contextmanager
def _tiering(cli: Cli, warehouse: Path) -> Iterator[None]:
    service = cli.start("tier", "--engine", "local", "--warehouse", str(warehouse))
    try:
        yield
    finally:
        service.terminate()
        service.communicate(timeout=60)


def _tier(cli: Cli, warehouse: Path, *tables: str) -> None:
    with _tiering(cli, warehouse):
        for table in tables:
            cli.ok("tier", "now", table, "--wait", "--timeout", "60")


def test_the_lake_of_a_table_is_handed_over(tmp_path: Path) -> None:
    """A partitioned log and rows by key: no file is copied, no row is tiered twice, none is left out."""
    lake = tmp_path / "lake"
    tables = ("shop.log", "shop.keyed")
    with ServerProcess(tmp_path / "source") as source, ServerProcess(tmp_path / "target") as target:
        here, there = Cli(source.bootstrap, tmp_path), Cli(target.bootstrap, tmp_path)
        here.ok("databases", "create", "shop")
        here.ok("tables", "create", "shop.log", "id BIGINT, v STRING, dt STRING", "--partition-by", "dt")
        here.ok("tables", "create", "shop.keyed", "id BIGINT, v STRING", "--primary-key", "id", "--buckets", "2")
        for table in tables:
            here.ok("tables", "alter", table, *_LAKE)
        with lakeward.connect(source.bootstrap) as connection:
            connection.table("shop.log").append([{"id": i, "v": "a", "dt": "xy"[i % 2]} for i in range(100)])
            connection.table("shop.keyed").upsert([{"id": i, "v": "a"} for i in range(100)])
        _tier(here, lake, *tables)
        with lakeward.connect(source.bootstrap) as connection:
            connection.table("shop.log").append([{"id": i, "v": "b", "dt": "xy"[i % 2]} for i in range(100, 150)])
            connection.table("shop.keyed").upsert([{"id": i, "v": "b"} for i in range(50, 150)])
            connection.table("shop.keyed").delete([{"id": 0}])
        first = copy(source, target, *tables)
        assert {one["lake"] for one in first.values()} == {None}
        with lakeward.connect(target.bootstrap) as connection:
            assert list(connection.table("shop.log").info.descriptor.custom_properties) == ["lakeward.copy-of"]
        told = copy(source, target, *tables, "--cut-over", "--silence", "200ms")
        assert all(one["lake"].startswith("snapshot ") for one in told.values())
        files = set(lake.rglob("*.parquet"))
        with lakeward.connect(source.bootstrap) as connection:
            assert connection.table("shop.log").info.descriptor.properties["table.datalake.enabled"] == "false"
        with lakeward.connect(target.bootstrap, lake={"warehouse": str(lake)}) as connection:
            assert connection.table("shop.log").info.descriptor.properties["table.datalake.enabled"] == "true"
            assert connection.table("shop.log").info.descriptor.custom_properties == {
                "lakeward.lake.warehouse": str(lake),
                "lakeward.lake.format": "iceberg",
            }
            _check_union(connection, 150)
            connection.table("shop.log").append([{"id": 150, "v": "c", "dt": "z"}])
            connection.table("shop.keyed").upsert([{"id": 150, "v": "c"}])
        _tier(there, lake, *tables)
        assert files < set(lake.rglob("*.parquet"))
        with lakeward.connect(target.bootstrap, lake={"warehouse": str(lake)}) as connection:
            _check_union(connection, 151)
    assert sorted(row["id"] for row in read_by_pyiceberg(lake, "shop.log")) == list(range(151))
    assert sorted(row["id"] for row in read_by_pyiceberg(lake, "shop.keyed")) == list(range(1, 151))


def _check_union(connection: lakeward.Connection, count: int) -> None:
    ids = connection.sql("SELECT id FROM shop.log ORDER BY id")["id"].to_pylist()
    assert ids == list(range(count))
    keyed = connection.sql("SELECT id, v FROM shop.keyed ORDER BY id").to_pylist()
    assert [row["id"] for row in keyed] == list(range(1, count))
    assert [row["v"] for row in keyed[:149]] == ["a"] * 49 + ["b"] * 100
