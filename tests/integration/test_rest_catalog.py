"""An Iceberg REST catalog of the cluster's tables, hot and cold as one, for readers that never heard of us."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from time import sleep
from typing import Any

import pytest
from catalog_process import CatalogProcess
from eventually import eventually
from logins import ASKING, JAAS
from server_process import ServerProcess
from tiering_runs import TIERED, Warehouse

import lakeward
from lakeward.model.acl import Acl, Operation, Resource
from lakeward.model.principal import Principal

#: A table is not looked at more often than once a second.
REFRESH_S = 1.05
_LOADS = int(os.environ.get("REST_LOADS", "60"))
COLUMNS = "id BIGINT NOT NULL, item STRING, amount INT"


class World:
    """A cluster, its lake, and a catalog of both."""

    def __init__(self, server: ServerProcess, directory: Path, catalog: CatalogProcess) -> None:
        self.lake = Warehouse(server.bootstrap, directory / "lake", is_told=True)
        self.catalog = catalog
        self.lake.conn.create_database("shop")

    def table(self, name: str, **given: Any) -> lakeward.Table:
        """A tiered table."""
        columns = given.pop("columns", COLUMNS)
        return self.lake.conn.create_table(f"shop.{name}", columns, properties=TIERED, **{"buckets": 2, **given})

    def truth(self, name: str) -> list[tuple[Any, ...]]:
        """The table by our own SQL."""
        return ordered(self.lake.conn.sql(f"SELECT * FROM shop.{name}").to_pylist())


def ordered(rows: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
    """Rows in an order, as tuples."""
    return sorted((tuple(row.values()) for row in rows), key=repr)


def orders(first: int, count: int, item: str = "boots") -> list[dict[str, Any]]:
    """Some rows."""
    return [{"id": i, "item": item, "amount": i * 10} for i in range(first, first + count)]


@pytest.fixture
def world(new_server: Callable[..., ServerProcess], tmp_path: Path) -> Iterator[World]:
    """A cluster without logins, a local lake, a catalog without refresh pauses in the way."""
    server = new_server()
    with CatalogProcess(server.bootstrap, tmp_path / "catalog.log", "--warehouse", str(tmp_path / "lake")) as catalog:
        made = World(server, tmp_path, catalog)
        yield made
        made.lake.close()
    assert "Traceback" not in catalog.log_text, catalog.log_text[-4000:]


@pytest.mark.covering("True")
@pytest.mark.parametrize("keyed", [False, True])
def test_a_table_is_served_as_committed_and_as_it_is_now(world: World, keyed: bool) -> None:
    """`db.table` has what was tiered; `db.table$now` and `now.db` have every row, as our own SQL does."""
    table = world.table("orders", **({"primary_key": ["id"]} if keyed else {}))
    put = table.upsert if keyed else table.append
    put(orders(0, 100))
    world.lake.round(table)
    put(orders(50, 100, "umbrella"))
    if keyed:
        table.delete([{"id": 3}, {"id": 60}])
    committed = world.catalog.rows_by_pyiceberg("shop.orders")
    assert ordered(committed) == ordered(orders(0, 100))
    for name in (("shop", "orders$now"), ("now", "shop", "orders")):
        assert ordered(world.catalog.rows_by_pyiceberg(name)) == world.truth("orders")
        assert world.catalog.pyiceberg().load_table(name).inspect.entries().num_rows > 1
    with world.catalog.duckdb() as duck:
        for name in ('shop."orders$now"', '"now.shop".orders'):
            found = duck.execute(f"SELECT id, item, amount FROM lake.{name}").to_arrow_table().to_pylist()
            assert ordered(found) == world.truth("orders")


def test_partitions_and_new_columns_are_in_it(world: World) -> None:
    """Of partitions that the lake has and that it does not; a column is there as soon as the cluster has it."""
    table = world.table("days", columns="id BIGINT NOT NULL, dt STRING NOT NULL, item STRING", partition_by=["dt"])
    for day in ("d1", "d2", "d3"):
        table.create_partition({"dt": day})
    table.append([{"id": i, "dt": f"d{1 + i % 2}", "item": "a"} for i in range(20)])
    world.lake.round(table)
    table.append([{"id": i, "dt": f"d{1 + i % 3}", "item": "b"} for i in range(20, 50)])
    assert ordered(world.catalog.rows_by_pyiceberg("shop.days$now")) == world.truth("days")
    world.lake.conn.alter_table("shop.days", add_columns="note STRING")
    table.refresh()
    table.append([{"id": 99, "dt": "d2", "item": "c", "note": "new"}])
    sleep(REFRESH_S)
    assert ordered(world.catalog.rows_by_pyiceberg("shop.days$now")) == world.truth("days")


@pytest.mark.long
def test_a_keyed_table_is_right_before_it_is_tiered_and_through_changes(world: World) -> None:
    """Its whole state is hot at first; then changes lie over files, load by load and round by round.

    So it is for a catalog that keeps no key in memory.
    """
    table = world.table("keyed", primary_key=["id"])
    table.upsert(orders(0, 40))
    lake = world.lake
    log = lake.directory.parent / "bare.log"
    with CatalogProcess(lake.bootstrap, log, "--warehouse", str(lake.directory), "--key-memory", "0 b") as bare:
        for step in range(5):
            for catalog in (world.catalog, bare):
                assert ordered(catalog.rows_by_pyiceberg("shop.keyed$now")) == world.truth("keyed")
            if step % 2 == 1:
                lake.round(table)
            table.upsert(orders(step * 7, 20, f"step {step}"))
            table.delete([{"id": step * 5}])
            sleep(REFRESH_S)
    with world.catalog.duckdb() as duck:
        found = duck.execute('SELECT id, item, amount FROM lake.shop."keyed$now"').to_arrow_table().to_pylist()
    assert ordered(found) == world.truth("keyed")


def test_the_protocol(world: World) -> None:
    """Config, namespaces, lists in pages, ETags, refusals: all in the protocol's shape."""
    for name in ("a", "b", "c"):
        table = world.table(name)
        table.append(orders(0, 3))
        world.lake.round(table)
    paimon = {**TIERED, "table.datalake.format": "paimon"}
    world.lake.conn.create_table("shop.other", COLUMNS, properties=paimon)
    ask = world.catalog.ask
    assert "GET /v1/{prefix}/namespaces" in ask("GET", "/v1/config").json()["endpoints"]
    assert ask("GET", "/v1/namespaces").json() == {"namespaces": [["fluss"], ["now"], ["shop"]]}
    assert ["now", "shop"] in ask("GET", "/v1/namespaces?parent=now").json()["namespaces"]
    assert ask("HEAD", "/v1/namespaces/now%1Fshop").status_code == 204
    assert ask("HEAD", "/v1/namespaces/none").status_code == 404
    first = ask("GET", "/v1/namespaces/shop/tables?pageToken=&pageSize=2").json()
    rest = ask("GET", f"/v1/namespaces/shop/tables?pageToken={first['next-page-token']}&pageSize=2").json()
    assert [one["name"] for one in first["identifiers"] + rest["identifiers"]] == ["a", "b", "c"]
    assert ask("HEAD", "/v1/namespaces/shop/tables/a%24now").status_code == 204
    for path in ("a", "a%24now"):
        answer = ask("GET", f"/v1/namespaces/shop/tables/{path}")
        assert answer.status_code == 200
        again = ask("GET", f"/v1/namespaces/shop/tables/{path}", headers={"If-None-Match": answer.headers["etag"]})
        assert (again.status_code, again.content) == (304, b"")
    refs = ask("GET", "/v1/namespaces/shop/tables/a%24now?snapshots=refs").json()["metadata"]
    assert refs["current-snapshot-id"] in {one["snapshot-id"] for one in refs["snapshots"]}
    for method, path, status, kind in (
        ("POST", "/v1/namespaces/shop/tables/a", 403, "ForbiddenException"),
        ("DELETE", "/v1/namespaces/shop/tables/a", 403, "ForbiddenException"),
        ("POST", "/v1/namespaces", 406, "UnsupportedOperationException"),
        ("GET", "/v1/namespaces/shop/views", 406, "UnsupportedOperationException"),
        ("GET", "/v1/namespaces/shop/views/v", 404, "NoSuchViewException"),
        ("GET", "/v1/namespaces/shop/tables/none", 404, "NoSuchTableException"),
        ("GET", "/v1/namespaces/none/tables/a", 404, "NoSuchTableException"),
        ("GET", "/v1/namespaces/shop%1Fa/tables/snapshots", 404, "NoSuchTableException"),
        ("GET", "/v1/namespaces/none/tables", 404, "NoSuchNamespaceException"),
        ("GET", "/v1/namespaces/shop/tables/other%24now", 404, "NoSuchTableException"),
        ("GET", "/v1/nothing", 404, "NotFoundException"),
    ):
        answer = ask(method, path)
        told = answer.json()["error"]
        assert (answer.status_code, told["code"], told["type"]) == (status, status, kind), (path, told)


@pytest.mark.long
def test_nothing_is_left_behind(new_server: Callable[..., ServerProcess], tmp_path: Path) -> None:
    """Many loads while rows come, a kill -9 in between: what nobody can read is removed, no row is lost."""
    server = new_server()
    log, lake = tmp_path / "catalog.log", ("--warehouse", str(tmp_path / "lake"))
    with CatalogProcess(server.bootstrap, log, *lake, "--keep", "1 s", "--refresh", "0 s") as catalog:
        world = World(server, tmp_path, catalog)
        table = world.table("orders", primary_key=["id"])
        table.upsert(orders(0, 50))
        world.lake.round(table)
        area = tmp_path / "lake" / "shop" / "orders" / "now"
        for number in range(_LOADS):
            if number % 20 == 0:
                table.upsert(orders(number % 7, 30, f"load {number}"))
            assert catalog.ask("GET", "/v1/namespaces/shop/tables/orders%24now").status_code == 200
        assert list(area.rglob("*.parquet"))
        assert eventually(lambda: not area.exists())
    with CatalogProcess(server.bootstrap, log, *lake) as doomed:
        assert ordered(doomed.rows_by_pyiceberg("shop.orders$now")) == world.truth("orders")
        doomed.kill()
    assert area.exists()
    with CatalogProcess(server.bootstrap, log, *lake, "--keep", "1 s", "--life", "1 s") as catalog:
        sleep(REFRESH_S)
        assert ordered(catalog.rows_by_pyiceberg("shop.orders$now")) == world.truth("orders")
        assert eventually(lambda: not area.exists())
    world.lake.close()


@pytest.mark.long
def test_a_slow_reader_keeps_its_snapshot(world: World) -> None:
    """What it was told of stays for a while, however much comes after it; then the committed table is as it was."""
    table = world.table("slow", primary_key=["id"])
    table.upsert(orders(0, 50))
    world.lake.round(table)
    table.upsert(orders(10, 10, "hot"))
    told = world.catalog.pyiceberg().load_table("shop.slow$now")
    before = world.truth("slow")
    for step in range(3):
        table.upsert(orders(step * 10, 30, f"step {step}"))
        world.lake.round(table)
        sleep(REFRESH_S)
        assert ordered(world.catalog.rows_by_pyiceberg("shop.slow$now")) == world.truth("slow")
    rows = [{k: v for k, v in row.items() if not k.startswith("__")} for row in told.scan().to_arrow().to_pylist()]
    assert ordered(rows) == before


def test_who_may_not_read_gets_nothing(new_server: Callable[..., ServerProcess], tmp_path: Path) -> None:
    """Tokens are had for users of the cluster alone, and its grants hold for what they stand for."""
    from pyiceberg.exceptions import ForbiddenError, NoSuchNamespaceError, OAuthError, UnauthorizedError

    options = {"authorizer__enabled": "true", "super__users": "User:admin"}
    server = new_server(security__sasl__plain__jaas__config=JAAS, **ASKING, **options)
    where = server.listeners["CLIENT"]
    place = {"warehouse": str(tmp_path / "lake")}
    login = {"client.security.sasl.username": "admin", "client.security.sasl.password": "admin-secret"}
    admin = lakeward.connect(where, lake=place, **login)
    admin.create_database("shop")
    table = admin.create_table("shop.orders", COLUMNS, properties=TIERED)
    table.append(orders(0, 10))
    with CatalogProcess(where, tmp_path / "log", "--warehouse", place["warehouse"]) as catalog:
        with pytest.raises(UnauthorizedError):
            catalog.pyiceberg().list_namespaces()
        for credential in ("alice:wrong", "nobody:alice-secret", ":", "alice:env:HOME"):
            with pytest.raises((OAuthError, UnauthorizedError)):
                catalog.pyiceberg(credential=credential)
        alice = catalog.pyiceberg(credential="alice:alice-secret")
        root = catalog.pyiceberg(credential="admin:admin-secret")
        assert root.load_table("shop.orders$now").scan().to_arrow().num_rows == 10
        for name in ("shop.orders$now", "shop.orders"):
            with pytest.raises(ForbiddenError):
                alice.load_table(name)
        with pytest.raises(NoSuchNamespaceError):
            alice.list_tables(("now", "shop"))
        admin.acls.grant([Acl(Resource.table("shop", "orders"), Principal("alice"), Operation.READ)])
        assert alice.load_table("shop.orders$now").scan().to_arrow().num_rows == 10
        assert alice.list_tables(("now", "shop")) == [("now", "shop", "orders")]
        assert alice.namespace_exists("shop"), "engines ask for it before they ask for a table"
        assert "secret" not in catalog.log_text
    admin.close()
