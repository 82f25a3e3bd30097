"""The REST catalog for tables of others: created, changed and dropped by readers and writers that never heard of us."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from catalog_process import CatalogProcess
from logins import ASKING, JAAS
from server_process import ServerProcess
from tiering_runs import TIERED, Warehouse
from trino_requests import SORTED, create_as_trino, staged

import lakeward

ROWS = pa.table({"id": pa.array([1, 2, 3], pa.int64()), "item": ["a", "b", "c"]})

#: Right but for its properties, which are read before they are judged.
_PROPERTIES_AS_LIST = b'{"name": "t", "schema": {"type": "struct", "fields": []}, "properties": [1]}'


class World:
    """A cluster with a tiered table, and a catalog that keeps tables of others beside it."""

    def __init__(self, server: ServerProcess, directory: Path, catalog: CatalogProcess) -> None:
        self.lake = Warehouse(server.bootstrap, directory / "lake", is_told=True)
        self.catalog = catalog
        self.lake.conn.create_database("shop")
        table = self.lake.conn.create_table("shop.orders", "id BIGINT NOT NULL, item STRING", properties=TIERED)
        table.append([{"id": 1, "item": "boots"}])
        self.lake.round(table)


@pytest.fixture
def world(new_server: Callable[..., ServerProcess], tmp_path: Path) -> Iterator[World]:
    """Without logins, in a local directory."""
    server = new_server()
    arguments = ("--warehouse", str(tmp_path / "lake"), "--others", "write")
    with CatalogProcess(server.bootstrap, tmp_path / "catalog.log", *arguments) as catalog:
        made = World(server, tmp_path, catalog)
        yield made
        made.lake.close()
    assert "Traceback" not in catalog.log_text, catalog.log_text[-4000:]


def rows(table: Any) -> list[dict[str, Any]]:
    """All rows, in an order."""
    return sorted(table.refresh().scan().to_arrow().to_pylist(), key=lambda row: row["id"])


def test_pyiceberg_creates_changes_and_drops(world: World) -> None:
    """Append, overwrite, delete, upsert, a new column, a name, properties; a commit on what is outdated is refused."""
    from pyiceberg.exceptions import CommitFailedException, NoSuchTableError
    from pyiceberg.types import StringType

    catalog = world.catalog.pyiceberg()
    where = {"location": f"{(world.lake.directory / 'lab').as_uri()}"}
    catalog.create_namespace("lab", {"owner": "ada"})
    assert catalog.load_namespace_properties("lab") == {"owner": "ada", **where}
    catalog.update_namespace_properties("lab", {"owner"}, {"team": "x"})
    assert catalog.load_namespace_properties("lab") == {"team": "x", **where}
    table = catalog.create_table("lab.tries", ROWS.schema)
    table.append(ROWS)
    outdated = catalog.load_table("lab.tries")
    table.delete("id = 2")
    table.overwrite(pa.table({"id": pa.array([3], pa.int64()), "item": ["c!"]}), overwrite_filter="id = 3")
    table.upsert(pa.table({"id": pa.array([1, 9], pa.int64()), "item": ["a!", "new"]}), join_cols=["id"])
    assert [row["item"] for row in rows(table)] == ["a!", "c!", "new"]
    late = outdated.update_schema().add_column("other", StringType())
    table.update_schema().add_column("note", StringType()).commit()
    with pytest.raises(CommitFailedException):
        late.commit()
    assert [field.name for field in table.refresh().schema().fields] == ["id", "item", "note"]
    with table.transaction() as change:
        change.set_properties({"owner": "ada"})
    catalog.rename_table("lab.tries", "lab.kept")
    assert [row["item"] for row in rows(catalog.load_table("lab.kept"))] == ["a!", "c!", "new"]
    with catalog.create_table_transaction("lab.staged", ROWS.schema) as staged:
        staged.append(ROWS)
    assert len(rows(catalog.load_table("lab.staged"))) == 3
    assert catalog.list_tables("lab") == [("lab", "kept"), ("lab", "staged")]
    again = catalog.create_table("lab.tries", ROWS.schema)
    assert again.location() != catalog.load_table("lab.kept").location()
    for name in ("tries", "staged", "kept"):
        folder = Path(catalog.load_table(f"lab.{name}").location().removeprefix("file://"))
        catalog.purge_table(f"lab.{name}")
        assert not folder.exists()
        with pytest.raises(NoSuchTableError):
            catalog.load_table(f"lab.{name}")
    catalog.drop_namespace("lab")
    assert ("lab",) not in catalog.list_namespaces()


def test_duckdb_creates_and_inserts(world: World) -> None:
    """CREATE SCHEMA, CREATE TABLE, INSERT, CREATE TABLE AS, DELETE, DROP; joined with a table as it is now."""
    with world.catalog.duckdb() as duck:
        duck.execute("CREATE SCHEMA lake.lab")
        duck.execute("CREATE TABLE lake.lab.tries (id BIGINT, item VARCHAR)")
        duck.execute("INSERT INTO lake.lab.tries VALUES (1, 'a'), (2, 'b')")
        duck.execute('CREATE TABLE lake.shop.copied AS SELECT id, item FROM lake.shop."orders$now"')
        duck.execute("INSERT INTO lake.lab.tries SELECT id + 10, item FROM lake.shop.copied")
        found = duck.execute("SELECT t.id, t.item FROM lake.lab.tries t ORDER BY 1").fetchall()
        assert found == [(1, "a"), (2, "b"), (11, "boots")]
        duck.execute("DELETE FROM lake.lab.tries WHERE id = 2")
        assert duck.execute("SELECT count(*) FROM lake.lab.tries").fetchall() == [(2,)]
        duck.execute("DROP TABLE lake.shop.copied")
    assert [row["id"] for row in rows(world.catalog.pyiceberg().load_table("lab.tries"))] == [1, 11]


@pytest.mark.long
def test_a_table_is_made_where_its_writer_says_before_it_is_there(world: World) -> None:
    """As Trino does: in a folder of its own choice below the namespace, empty until the table is committed."""
    ask = world.catalog.ask
    for namespace in ("lab", "shop"):
        if namespace == "lab":
            ask("POST", "/v1/namespaces", json={"namespace": ["lab"], "properties": {}}).raise_for_status()
        above = ask("GET", f"/v1/namespaces/{namespace}").json()["properties"]["location"]
        for name in ("tries", "by-hand"):
            create_as_trino(world.catalog, namespace, name, f"{above}/{name}-{'0a' * 16}")
            table = world.catalog.pyiceberg().load_table((namespace, name))
            table.append(pa.table({"id": pa.array([1], pa.int64())}))
            assert rows(table) == [{"id": 1}]
    for wrong in ("other-0a0a", "tries-a-0a0a", "by_hand", "tries-"):
        answer = ask("POST", "/v1/namespaces/lab/tables", json=staged("tries2", f"{above}/{wrong}"))
        assert answer.status_code == 400, wrong
    for changed in ("/v1/namespaces", "/v1/namespaces/lab/properties"):
        elsewhere = {"location": "s3://elsewhere/lab"}
        answer = ask("POST", changed, json={"namespace": ["lab2"], "properties": elsewhere, "updates": elsewhere})
        assert answer.status_code == 400
        assert "leave the location out" in answer.text
    assert ask("GET", "/v1/namespaces/lab2").status_code == 404


@pytest.mark.long
def test_a_table_is_replaced_by_one_that_is_not_sorted(world: World) -> None:
    """CREATE OR REPLACE of Trino and Spark: "not sorted" is the order 0, added after a higher one, and meant by -1."""
    ask, where = world.catalog.ask, "/v1/namespaces/shop/tables"
    sorted_ = {"order-id": 1, "fields": [SORTED]}
    ask("POST", where, json={**staged("tries"), "stage-create": False, "write-order": sorted_}).raise_for_status()
    updates = [
        {"action": "add-sort-order", "sort-order": {"order-id": 0, "fields": []}},
        {"action": "set-default-sort-order", "sort-order-id": -1},
    ]
    answer = ask("POST", f"{where}/tries", json={"requirements": [], "updates": updates})
    assert answer.status_code == 200, answer.text
    assert answer.json()["metadata"]["default-sort-order-id"] == 0


def test_tables_of_the_cluster_are_left_alone(world: World) -> None:
    """No change, no drop, no table of their name, and none in their folder; a sentence says why."""
    from pyiceberg.exceptions import BadRequestError, ForbiddenError

    catalog = world.catalog.pyiceberg()
    orders = catalog.load_table("shop.orders")
    world.lake.conn.create_table("shop.hot", "id BIGINT")
    for refused in (
        lambda: orders.transaction().set_properties({"owner": "ada"}).commit_transaction(),
        lambda: catalog.drop_table("shop.orders"),
        lambda: catalog.purge_table("shop.orders"),
        lambda: catalog.rename_table("shop.orders", "shop.mine"),
        lambda: catalog.create_table("shop.orders", ROWS.schema),
        lambda: catalog.create_table("shop.hot", ROWS.schema),
        lambda: catalog.drop_namespace("shop"),
        lambda: catalog.drop_table("shop.orders$now"),
        lambda: catalog.create_table("now.shop.mine", ROWS.schema),
    ):
        with pytest.raises(ForbiddenError, match="cluster"):
            refused()
    inside = orders.location()
    for location in (inside, f"{inside}/x", "/tmp/elsewhere", f"{inside}/../mine-1", inside.replace("orders", "hot")):
        with pytest.raises(BadRequestError, match="cannot lie in"):
            catalog.create_table("shop.mine", ROWS.schema, location=location)
    for name in ("mine$now", "a/b", "..", "a" * 300):
        with pytest.raises(BadRequestError, match="name"):
            catalog.create_table(("shop", name), ROWS.schema)
    mine = catalog.create_table("shop.mine", ROWS.schema)
    for properties in ({"write.metadata.path": "/tmp/elsewhere"}, {"fluss.table.datalake.enabled": "true"}):
        with pytest.raises(BadRequestError, match=r"must be below|tiered"):
            mine.transaction().set_properties(properties).commit_transaction()
    with mine.transaction() as change:  # and no code of theirs is loaded here
        change.set_properties({"py-io-impl": "os.nothing", "s3.endpoint": "http://127.0.0.1:1"})
    assert world.catalog.ask("GET", "/v1/namespaces/shop/tables/mine").status_code == 200
    assert len(world.catalog.rows_by_pyiceberg("shop.orders$now")) == 1
    names = world.catalog.ask("GET", "/v1/namespaces/shop/tables").json()["identifiers"]
    assert [one["name"] for one in names] == ["mine", "orders"]


def test_odd_requests_are_refused_in_words(world: World) -> None:
    """Whatever a body holds, the answer is one of the protocol's."""
    ask = world.catalog.ask
    ask("POST", "/v1/namespaces", json={"namespace": ["lab"]}).raise_for_status()
    for method, path, body, status in (
        ("POST", "/v1/namespaces", b"{", 400),
        ("POST", "/v1/namespaces", b"[1]", 400),
        ("POST", "/v1/namespaces", b'{"namespace": ["a", "b"]}', 400),
        ("POST", "/v1/namespaces", b'{"namespace": ["lab"]}', 409),
        ("POST", "/v1/namespaces", b'{"namespace": ["shop"]}', 409),
        ("POST", "/v1/namespaces/lab/tables", b'{"name": "t"}', 400),
        ("POST", "/v1/namespaces/lab/tables", b'{"name": "t", "schema": {"type": "struct", "fields": 3}}', 400),
        ("POST", "/v1/namespaces/none/tables", b'{"name": "t", "schema": {"type": "struct", "fields": []}}', 404),
        ("POST", "/v1/namespaces/lab/tables/none", b'{"requirements": [], "updates": []}', 404),
        ("POST", "/v1/namespaces/lab/tables", _PROPERTIES_AS_LIST, 400),
        ("POST", "/v1/namespaces/lab/tables/none", b'{"updates": [{"action": "fly"}]}', 400),
        ("POST", "/v1/namespaces/lab/tables/none", b'{"updates": [{"action": "set-properties", "updates": 1}]}', 400),
        ("POST", "/v1/transactions/commit", b'{"table-changes": 7}', 400),
        ("POST", "/v1/tables/rename", b'{"source": 1}', 400),
        ("POST", "/v1/namespaces/lab/register", b"{}", 406),
        ("DELETE", "/v1/namespaces/none", b"", 404),
    ):
        answer = ask(method, path, data=body)
        assert (answer.status_code, answer.json()["error"]["code"]) == (status, status), (path, body, answer.text)


@pytest.mark.long
def test_with_logins_they_are_for_whom_the_catalog_was_told_of(
    new_server: Callable[..., ServerProcess], tmp_path: Path
) -> None:
    """The cluster's grants say nothing of these tables: nobody else sees them, or makes any."""
    from pyiceberg.exceptions import ForbiddenError

    options = {"authorizer__enabled": "true", "super__users": "User:admin"}
    server = new_server(security__sasl__plain__jaas__config=JAAS, **ASKING, **options)
    where = server.listeners["CLIENT"]
    login = {"client.security.sasl.username": "admin", "client.security.sasl.password": "admin-secret"}
    arguments = ("--warehouse", str(tmp_path / "lake"), "--others", "write", "--for", "admin")
    with lakeward.connect(where, **login) as admin, CatalogProcess(where, tmp_path / "log", *arguments) as catalog:
        admin.create_database("shop")
        root = catalog.pyiceberg(credential="admin:admin-secret")
        root.create_table("shop.mine", ROWS.schema).append(ROWS)
        assert len(rows(root.load_table("shop.mine"))) == 3
        alice = catalog.pyiceberg(credential="alice:alice-secret")
        for refused in (
            lambda: alice.load_table("shop.mine"),
            lambda: alice.create_table("shop.hers", ROWS.schema),
            lambda: alice.create_namespace("hers"),
            lambda: alice.drop_table("shop.mine"),
        ):
            with pytest.raises(ForbiddenError):
                refused()


def test_readers_only(new_server: Callable[..., ServerProcess], tmp_path: Path) -> None:
    """`--others read` shows them, and changes nothing; without it they are not there."""
    from pyiceberg.exceptions import NoSuchTableError

    server, place = new_server(), ("--warehouse", str(tmp_path / "lake"))
    with CatalogProcess(server.bootstrap, tmp_path / "log", *place, "--others", "write") as catalog:
        made = catalog.pyiceberg()
        made.create_namespace("lab")
        made.create_table("lab.tries", ROWS.schema).append(ROWS)
    with CatalogProcess(server.bootstrap, tmp_path / "log", *place, "--others", "read") as catalog:
        found = catalog.pyiceberg().load_table("lab.tries")
        assert len(rows(found)) == 3
        with pytest.raises(NotImplementedError):
            found.append(ROWS)
    with CatalogProcess(server.bootstrap, tmp_path / "log", *place) as catalog, pytest.raises(NoSuchTableError):
        catalog.pyiceberg().load_table("lab.tries")
