"""The REST catalog when things are odd: names, restarts, tables that go, catalogs beside each other, many tables."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from catalog_process import CatalogProcess
from eventually import eventually
from lake_tables import pyiceberg_table
from rest_story import orders
from server_process import ServerProcess
from tiering_runs import TIERED, Warehouse

from lakeward.errors import LakewardError

COLUMNS = "id BIGINT NOT NULL, item STRING, amount INT"
ODD = ["it's", 'say "no"', "a.b", "a%2Fb", "%2E%2E", "gr%C3%BC%C3%9Fe", "%00", "a" * 5000, "$now", "%20", "now", "__x"]


class World:
    """A cluster with a tiered primary key table, and its lake."""

    def __init__(self, server: ServerProcess, directory: Path) -> None:
        self.place = ("--warehouse", str(directory / "lake"))
        self.lake = Warehouse(server.bootstrap, directory / "lake", is_told=True)
        self.lake.conn.create_database("shop")
        self.table = self.make_table("orders")
        self.table.upsert(orders(0, 20))
        self.lake.round(self.table)
        self.table.upsert(orders(10, 20, "hot"))

    def make_table(self, name: str) -> Any:
        """A tiered table."""
        return self.lake.conn.create_table(f"shop.{name}", COLUMNS, primary_key=["id"], buckets=1, properties=TIERED)


@pytest.fixture
def server(new_server: Callable[..., ServerProcess]) -> ServerProcess:
    """A server of this test's own."""
    return new_server()


@pytest.mark.covering("write")
@pytest.mark.parametrize("others", ["none", "write"])
def test_odd_names_are_not_found(server: ServerProcess, tmp_path: Path, others: str) -> None:
    """Quotes, dots, slashes, unicode, very long ones: an answer of the protocol, and no trace of the server."""
    world = World(server, tmp_path)
    with CatalogProcess(server.bootstrap, tmp_path / "log", *world.place, "--others", others) as catalog:
        for name in ODD:
            for path in (f"{name}/tables/orders", f"shop/tables/{name}", f"now%1Fshop/tables/{name}", f"{name}%1Fx"):
                answer = catalog.ask("GET", f"/v1/namespaces/{path}")
                assert answer.status_code in (400, 404), (path, answer.text)
                assert answer.json()["error"]["code"] == answer.status_code
                assert catalog.ask("HEAD", f"/v1/namespaces/{path}").status_code in (400, 404)
    assert "Traceback" not in catalog.log_text
    world.lake.close()


def test_a_table_that_is_dropped_is_read_to_its_end(server: ServerProcess, tmp_path: Path) -> None:
    """Who was told of it reads what they were told; then there is no such table, and nothing of it is left hot."""
    from pyiceberg.exceptions import NoSuchTableError

    world = World(server, tmp_path)
    with CatalogProcess(server.bootstrap, tmp_path / "log", *world.place, "--keep", "2 s") as catalog:
        told = catalog.pyiceberg().load_table("shop.orders$now")
        world.lake.conn.drop_table("shop.orders")
        assert told.scan().to_arrow().num_rows == 30
        with pytest.raises(NoSuchTableError):
            catalog.pyiceberg().load_table("shop.orders$now")
        assert eventually(lambda: not (tmp_path / "lake" / "shop" / "orders" / "now").exists())
    assert "Traceback" not in catalog.log_text
    world.lake.close()


@pytest.mark.long
def test_a_table_that_is_created_again_has_nothing_of_the_one_before(server: ServerProcess, tmp_path: Path) -> None:
    """Other columns, other types: readers see the new rows alone, and what is left of the old one stays as it was."""
    from pyiceberg.exceptions import NoSuchTableError

    world = World(server, tmp_path)
    old = pyiceberg_table(tmp_path / "lake", "shop.orders").metadata
    with CatalogProcess(server.bootstrap, tmp_path / "log", *world.place, "--refresh", "0 s") as catalog:
        world.lake.conn.drop_table("shop.orders")
        again = world.lake.conn.create_table("shop.orders", "id STRING, extra DOUBLE", properties=TIERED)
        again.append([{"id": "n", "extra": 1.5}])
        rows = catalog.rows_by_pyiceberg("shop.orders$now")
        assert [(row["id"], row["extra"]) for row in rows] == [("n", 1.5)]
        assert "item" not in rows[0]
        with pytest.raises(NoSuchTableError):
            catalog.pyiceberg().load_table("shop.orders")
        assert catalog.ask("HEAD", "/v1/namespaces/shop/tables/orders").status_code == 404
        with pytest.raises(LakewardError, match="earlier table of this name"):
            world.lake.round(again)
        assert pyiceberg_table(tmp_path / "lake", "shop.orders").metadata == old
    assert "Traceback" not in catalog.log_text
    world.lake.close()


def test_a_server_that_comes_back(server: ServerProcess, tmp_path: Path) -> None:
    """While it is away the answer is that it is; then the same catalog goes on, without being started again."""
    world = World(server, tmp_path)
    where = "/v1/namespaces/shop/tables/orders%24now"
    with CatalogProcess(server.bootstrap, tmp_path / "log", *world.place, "--refresh", "0 s") as catalog:
        assert catalog.ask("GET", where).status_code == 200
        server.kill()
        answer = catalog.ask("GET", where)
        assert (answer.status_code, answer.json()["error"]["type"]) == (503, "ServiceUnavailableException")
        server.start()
        assert eventually(lambda: catalog.ask("GET", where).status_code == 200)
        world.table.upsert(orders(100, 5))
        assert len(catalog.rows_by_pyiceberg("shop.orders$now")) == 35
    assert "Traceback" not in catalog.log_text
    world.lake.close()


@pytest.mark.long
def test_a_list_of_manifests_that_goes_while_a_table_is_looked_at(server: ServerProcess, tmp_path: Path) -> None:
    """As when its snapshot expires: the answer is to ask again, and then it is there."""
    world = World(server, tmp_path)
    where = "/v1/namespaces/shop/tables/orders%24now"
    with CatalogProcess(server.bootstrap, tmp_path / "log", *world.place, "--refresh", "0 s") as catalog:
        assert catalog.ask("GET", where).status_code == 200
        manifests = next((tmp_path / "lake" / "shop" / "orders" / "metadata").glob("snap-*.avro"))
        manifests.rename(tmp_path / "kept")
        world.table.upsert(orders(100, 5))
        answer = catalog.ask("GET", where)
        assert (answer.status_code, answer.json()["error"]["type"]) == (503, "ServiceUnavailableException")
        (tmp_path / "kept").rename(manifests)
        assert len(catalog.rows_by_pyiceberg("shop.orders$now")) == 35
    assert "Traceback" not in catalog.log_text
    world.lake.close()


@pytest.mark.long
def test_two_catalogs_leave_each_other_alone(server: ServerProcess, tmp_path: Path) -> None:
    """What one clears up is its own; the other's readers go on."""
    world = World(server, tmp_path)
    area = tmp_path / "lake" / "shop" / "orders" / "now"
    with CatalogProcess(server.bootstrap, tmp_path / "log", *world.place) as patient:
        told = patient.pyiceberg().load_table("shop.orders$now")
        folders = set(area.iterdir())
        with CatalogProcess(server.bootstrap, tmp_path / "log", *world.place, "--keep", "1 s") as hasty:
            assert len(hasty.rows_by_pyiceberg("shop.orders$now")) == 30
            assert len(set(area.iterdir())) == 2
            assert eventually(lambda: set(area.iterdir()) == folders)
        assert told.scan().to_arrow().num_rows == 30
    world.lake.close()


def test_pages_of_tables(server: ServerProcess, tmp_path: Path) -> None:
    """All of them once, whether tables of a page are in this catalog or not."""
    world = World(server, tmp_path)
    for number in range(25):
        if number % 3:
            world.make_table(f"t{number:02}")
        else:
            world.lake.conn.create_table(f"shop.t{number:02}", COLUMNS, buckets=1)  # not tiered
    with CatalogProcess(server.bootstrap, tmp_path / "log", *world.place) as catalog:
        found, token = [], ""
        while token is not None:
            page = catalog.ask("GET", f"/v1/namespaces/now%1Fshop/tables?pageSize=4&pageToken={token}").json()
            found += [one["name"] for one in page["identifiers"]]
            token = page.get("next-page-token")
        assert found == ["orders", *(f"t{number:02}" for number in range(25) if number % 3)]
        assert len(catalog.pyiceberg().list_tables(("now", "shop"))) == len(found)
    world.lake.close()
