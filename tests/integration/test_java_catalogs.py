"""A server whose lake is named as Apache Fluss's configuration has it: service and readers need no more than that."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
from cli_process import Cli
from pyiceberg.catalog import load_catalog
from pyiceberg.table import StaticTable
from server_process import ServerProcess

import lakeward

pytestmark = pytest.mark.slow
_TIERED = {"table.datalake.enabled": "true", "table.datalake.freshness": "1s"}


@pytest.fixture(params=["hadoop", "sqlite", "postgres"])
def lake(request: pytest.FixtureRequest, tmp_path: Path) -> dict[str, str]:
    """Properties of a lake, by Java's names."""
    made = {"warehouse": str(tmp_path / "lake")}
    (tmp_path / "lake").mkdir()
    if request.param == "hadoop":
        return made | {"type": "hadoop"}
    if request.param == "sqlite":
        return made | {"type": "jdbc", "uri": f"jdbc:sqlite:{tmp_path}/lake/catalog.db"}
    told = request.getfixturevalue("pg").options
    uri = f"jdbc:postgresql://{told['hostname']}:{told['port']}/{told['database-name']}"
    return made | {"type": "jdbc", "uri": uri, "jdbc.user": told["username"], "jdbc.password": told["password"]}


@pytest.mark.covering("hadoop", "postgres")
def test_the_cluster_names_its_catalog_as_java_does(tmp_path: Path, lake: dict[str, str]) -> None:
    """Rows are tiered there, queries read hot and cold as one, and readers of Iceberg find what is committed.

    A login is no server's to tell: who needs it has it.
    """
    login = [f"--lake={key}={value}" for key, value in lake.items() if key.startswith("jdbc.")]
    given = {f"datalake.iceberg.{key}": value for key, value in lake.items()} | {"datalake.format": "iceberg"}
    with ServerProcess(tmp_path / "data", **given) as server, lakeward.connect(server.bootstrap) as conn:
        conn.create_database("shop")
        table = conn.create_table("shop.orders", "id BIGINT, item STRING", primary_key=["id"], properties=_TIERED)
        table.upsert([{"id": n, "item": "old"} for n in range(10)])
        cli = Cli(server.bootstrap, tmp_path)
        service = cli.start("tier", "--engine", "local", *login)
        cli.ok("tier", "now", "shop.orders", "--wait", "--timeout", "60")
        service.terminate()
        service.communicate(timeout=60)
        table.upsert([{"id": 9, "item": "new"}, {"id": 10, "item": "new"}])
        told = cli.rows("sql", *login, "SELECT item, count(*) AS n FROM shop.orders GROUP BY item ORDER BY item")
        assert told == [{"item": "new", "n": 2}, {"item": "old", "n": 9}]
    assert _committed(lake).num_rows == 10


def _committed(lake: dict[str, str]) -> pa.Table:
    """What pyiceberg finds, by its own words for the catalog."""
    if lake["type"] == "hadoop":
        return StaticTable.from_metadata(f"{lake['warehouse']}/shop/orders").scan().to_arrow()
    place = lake["uri"].removeprefix("jdbc:")
    login = f"//{lake['jdbc.user']}:{lake['jdbc.password']}@" if "jdbc.user" in lake else ""
    uri = place.replace("sqlite:", "sqlite:///").replace("postgresql://", f"postgresql+psycopg:{login}")
    with load_catalog("fluss-iceberg-catalog", type="sql", uri=uri) as catalog:
        return catalog.load_table("shop.orders").scan().to_arrow()
