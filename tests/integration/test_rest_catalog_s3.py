"""The Iceberg REST catalog of a lake in a bucket: tables as they are now, and keys for who reads them; SeaweedFS."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from catalog_process import CatalogProcess
from eventually import eventually
from lake_tables import S3Warehouse
from seaweed import ROLE_ARN, Bucket
from server_process import ServerProcess
from tiering_runs import TIERED
from trino_requests import create_as_trino

import lakeward
from lakeward.client.admin.lake import TieringRound
from lakeward.runtime.clock import SystemClock
from lakeward.tiering.round.catalogs import LakeCatalogs
from lakeward.tiering.round.round import RoundContext, run_round
from lakeward.tiering.round.runner import LocalRunner

pytestmark = pytest.mark.slow
_KEYS = ("s3.access-key", "s3.secret-key")


class World:
    """A cluster, and its lake in a bucket."""

    def __init__(self, conn: lakeward.Connection, warehouse: S3Warehouse, bootstrap: str, directory: Path) -> None:
        self.conn = conn
        self.warehouse = warehouse
        self.bootstrap = bootstrap
        self.directory = directory

    def catalog(self, *arguments: str, **more: str) -> CatalogProcess:
        """A catalog that has its own keys from the environment."""
        told = {k: v for k, v in (self.warehouse.properties | more).items() if k not in _KEYS}
        bucket = self.warehouse.bucket
        return CatalogProcess(
            self.bootstrap,
            self.directory / "catalog.log",
            *(part for key, value in told.items() for part in ("--lake", f"{key}={value}")),
            *arguments,
            environment={"AWS_ACCESS_KEY_ID": bucket.access_key, "AWS_SECRET_ACCESS_KEY": bucket.secret_key},
        )

    def table(self, path: str) -> lakeward.Table:
        """A primary key table with rows in the lake, and changes after them."""
        table = self.conn.create_table(
            path, "id BIGINT NOT NULL, item STRING", primary_key=["id"], buckets=2, properties=TIERED
        )
        table.upsert([{"id": i, "item": "cold"} for i in range(100)])
        clock = SystemClock()
        runner = LocalRunner(lambda _: self.conn, clock)
        catalogs = LakeCatalogs(self.warehouse.properties)
        context = RoundContext(conn=self.conn, catalogs=catalogs, runner=runner, clock=clock, bootstrap="", client={})
        run_round(context, TieringRound(table.info.table_id, table.path, 0, 1))
        table.upsert([{"id": i, "item": "hot"} for i in range(90, 120)])
        table.delete([{"id": i} for i in range(5)])
        return table

    def truth(self, path: str) -> list[tuple[Any, ...]]:
        """The table by our own SQL."""
        return ordered(self.conn.sql(f"SELECT id, item FROM {path}").to_pylist())


def ordered(rows: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
    """The columns of a table, in an order."""
    return sorted((row["id"], row["item"]) for row in rows)


@pytest.fixture
def world(server: ServerProcess, s3: Bucket, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    """A lake of its own; no keys of whoever runs the tests are in the way."""
    for name in ("AWS_SESSION_TOKEN", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    warehouse = S3Warehouse(s3)
    with lakeward.connect(server.bootstrap, lake=warehouse.properties) as conn:
        yield World(conn, warehouse, server.bootstrap, tmp_path)


def test_a_table_in_a_bucket_is_read_with_vended_keys(world: World, database: str) -> None:
    """By readers that have no keys of their own; those that they are given are no one's for ever, and not ours."""
    path = f"{database}.orders"
    world.table(path)
    with world.catalog(**{"s3.assumed.role.arn": ROLE_ARN}) as catalog:
        asking = {"X-Iceberg-Access-Delegation": "vended-credentials"}
        where = f"/v1/namespaces/{database}/tables/orders%24now"
        answer = catalog.ask("GET", where, headers=asking)
        told = answer.json()
        assert told["config"]["s3.session-token"]
        assert [one["prefix"] for one in told["storage-credentials"]] == [f"{told['metadata']['location']}/"]
        assert world.warehouse.bucket.secret_key not in answer.text
        assert "s3.access-key-id" not in catalog.ask("GET", where).json()["config"]
        assert ordered(catalog.rows_by_pyiceberg(f"{path}$now")) == world.truth(path)
        assert ordered(catalog.rows_by_pyiceberg(path)) == [(i, "cold") for i in range(100)]
        with catalog.duckdb() as duck:
            found = duck.execute(f'SELECT id, item FROM lake.{database}."orders$now"').to_arrow_table().to_pylist()
        assert ordered(found) == world.truth(path)
        assert "secret" not in catalog.log_text


@pytest.mark.long
def test_without_a_role_no_keys_are_given(world: World, database: str) -> None:
    """Never the catalog's own; a reader with keys of its own reads."""
    path = f"{database}.orders"
    world.table(path)
    with world.catalog() as catalog:
        asking = {"X-Iceberg-Access-Delegation": "vended-credentials"}
        told = catalog.ask("GET", f"/v1/namespaces/{database}/tables/orders%24now", headers=asking).json()
        assert told["config"]["s3.endpoint"] == world.warehouse.bucket.endpoint
        assert not [key for key in told["config"] if "key" in key or "token" in key]
        assert "storage-credentials" not in told
        bucket = world.warehouse.bucket
        own = {"s3.access-key-id": bucket.access_key, "s3.secret-access-key": bucket.secret_key}
        found = catalog.pyiceberg(**own).load_table(f"{path}$now").scan().to_arrow().to_pylist()
        assert ordered(found) == world.truth(path)


@pytest.mark.long
def test_nothing_is_left_in_the_bucket(world: World, database: str) -> None:
    """Files of a table as it was are removed; what is committed stays, and so do rows."""
    path = f"{database}.orders"
    table = world.table(path)
    committed = set(world.warehouse.rglob("*"))
    with world.catalog("--keep", "1 s", "--key-memory", "0 b") as catalog:
        where = f"/v1/namespaces/{database}/tables/orders%24now"
        for number in range(3):
            table.upsert([{"id": number, "item": "more"}])
            assert catalog.ask("GET", where).status_code == 200
        assert set(world.warehouse.rglob("*")) > committed
        assert eventually(lambda: set(world.warehouse.rglob("*")) == committed)
    assert len(world.truth(path)) == 118


def test_tables_of_others_are_written_with_vended_keys(world: World, database: str) -> None:
    """Into the folder of that table alone; a table of the cluster gives keys that read. Purged, nothing is left."""
    import boto3
    import pyarrow as pa
    from botocore.exceptions import ClientError

    world.table(f"{database}.orders")
    committed = set(world.warehouse.rglob("*"))
    rows = pa.table({"id": pa.array([1, 2], pa.int64()), "item": ["a", "b"]})
    bucket = world.warehouse.bucket
    with world.catalog("--others", "write", **{"s3.assumed.role.arn": ROLE_ARN}) as catalog:
        reader = catalog.pyiceberg()
        reader.create_namespace(f"{database}_lab")
        assert (f"{database}_lab",) in reader.list_namespaces()
        made = reader.create_table(f"{database}_lab.tries", rows.schema)
        made.append(rows)
        with reader.create_table_transaction(f"{database}.staged", rows.schema) as staged:
            staged.append(rows)
        for name in (f"{database}_lab.tries", f"{database}.staged"):
            assert reader.load_table(name).scan().to_arrow().num_rows == 2
        asking = {"X-Iceberg-Access-Delegation": "vended-credentials"}
        for table, may in ((f"{database}_lab/tables/tries", True), (f"{database}/tables/orders", False)):
            told = catalog.ask("GET", f"/v1/namespaces/{table}", headers=asking).json()
            given, location = told["config"], told["metadata"]["location"]
            client = boto3.client(
                "s3",
                endpoint_url=bucket.endpoint,
                region_name="us-east-1",
                aws_access_key_id=given["s3.access-key-id"],
                aws_secret_access_key=given["s3.secret-access-key"],
                aws_session_token=given["s3.session-token"],
            )
            own = location.removeprefix(f"s3://{bucket.name}/")
            for key, allowed in ((f"{own}/x", may), (f"{world.warehouse.folder}/x", False)):
                try:
                    client.put_object(Bucket=bucket.name, Key=key, Body=b"x")
                    done = True
                except ClientError:
                    done = False
                assert done == allowed, (table, key)
        for name in (f"{database}_lab.tries", f"{database}.staged"):
            reader.purge_table(name)
        reader.drop_namespace(f"{database}_lab")
        assert set(world.warehouse.rglob("*")) == committed


@pytest.mark.long
def test_a_table_is_made_in_an_empty_folder_of_its_writers_choice(world: World, database: str) -> None:
    """As Trino wants it: nothing lies there before it does; versions of the table lie under its name. Purged, all goes.

    Between, the table is written and read as any other.
    """
    import pyarrow as pa

    with world.catalog("--others", "write") as catalog:
        bucket = world.warehouse.bucket
        own = {"s3.access-key-id": bucket.access_key, "s3.secret-access-key": bucket.secret_key}
        lab, before = f"{database}_lab", set(world.warehouse.rglob("*"))
        catalog.ask("POST", "/v1/namespaces", json={"namespace": [lab]}).raise_for_status()
        above = catalog.ask("GET", f"/v1/namespaces/{lab}").json()["properties"]["location"]
        assert above == f"{world.warehouse}/{lab}"
        create_as_trino(catalog, lab, "tries", f"{above}/tries-{'0a' * 16}")
        assert not [path for path in world.warehouse.rglob("*") if "/tries-" in path]
        reader = catalog.pyiceberg(**own)
        reader.load_table(f"{lab}.tries").append(pa.table({"id": pa.array([1], pa.int64())}))
        assert reader.list_tables(lab) == [(lab, "tries")]
        assert catalog.pyiceberg(**own).load_table(f"{lab}.tries").scan().to_arrow().num_rows == 1
        reader.purge_table(f"{lab}.tries")
        reader.drop_namespace(lab)
        assert set(world.warehouse.rglob("*")) == before
