"""Trino through the REST catalog, with a lake in a bucket: hot and cold as one."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from catalog_process import CatalogProcess
from lake_tables import S3Warehouse
from rest_story import AT_ONCE, Rows, Story
from seaweed import SeaweedFs
from server_process import ServerProcess
from trino_server import TrinoServer

import lakeward
from lakeward.client.admin.lake import TieringRound
from lakeward.runtime.clock import SystemClock
from lakeward.tiering.round.catalogs import LakeCatalogs
from lakeward.tiering.round.round import RoundContext, run_round
from lakeward.tiering.round.runner import LocalRunner

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]
_HOME = Path(os.environ["LAKEWARD_PEER_REST_TRINO"])


class TrinoReader:
    """Trino's SQL; `lake` is the catalog. `$` names its own tables about a table, so there is one name alone."""

    def __init__(self, server: TrinoServer) -> None:
        self._server = server

    def ask(self, question: str) -> Rows:
        """Rows as tuples, rows in rows by their names."""
        return [tuple(_named(value) for value in row) for row in self._server.ask(question)]

    def committed(self, database: str, table: str) -> str:
        """As the lake has it."""
        return f"lake.{database}.{table}"

    def now(self, database: str, table: str) -> Sequence[str]:
        """By the namespace."""
        return (f'lake."now.{database}".{table}',)


def _named(value: Any) -> Any:
    names = getattr(value, "__annotations__", {}).get("names")
    return value if names is None else dict(zip(names, value, strict=True))


@pytest.fixture(scope="module")
def story(server: ServerProcess, seaweed: SeaweedFs, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Story]:
    """A cluster, its lake in a bucket, a catalog, and Trino with keys of its own."""
    place = tmp_path_factory.mktemp("rest")
    bucket = seaweed.new_bucket()
    warehouse = S3Warehouse(bucket)
    arguments = [part for key, value in warehouse.properties.items() for part in ("--lake", f"{key}={value}")]
    with (
        CatalogProcess(server.bootstrap, place / "log", *arguments, *AT_ONCE, "--others", "write") as catalog,
        TrinoServer(
            _HOME,
            place / "trino",
            {
                "connector.name": "iceberg",
                "iceberg.catalog.type": "rest",
                "iceberg.rest-catalog.uri": catalog.url,
                "iceberg.rest-catalog.nested-namespace-enabled": "true",
                "fs.native-s3.enabled": "true",
                "s3.endpoint": bucket.endpoint,
                "s3.region": "us-east-1",
                "s3.path-style-access": "true",
                "s3.aws-access-key": bucket.access_key,
                "s3.aws-secret-key": bucket.secret_key,
            },
        ) as trino,
        lakeward.connect(server.bootstrap, lake=warehouse.properties) as conn,
    ):
        clock = SystemClock()
        runner = LocalRunner(lambda _: conn, clock)
        catalogs = LakeCatalogs(warehouse.properties)
        context = RoundContext(conn=conn, catalogs=catalogs, runner=runner, clock=clock, bootstrap="", client={})

        def round_(table: lakeward.Table) -> Any:
            return run_round(context, TieringRound(table.info.table_id, table.path, 0, 1))

        conn.create_database("trino")
        yield Story(conn, round_, TrinoReader(trino), "trino")
    assert "Traceback" not in catalog.log_text, catalog.log_text[-4000:]


def test_log_and_key(story: Story) -> None:
    """Both kinds of tables as our own SQL has them."""
    story.log_and_key()


def test_partitions(story: Story) -> None:
    """Also such as the lake does not have yet."""
    story.partitions()


def test_every_type(story: Story) -> None:
    """Trino has all of them."""
    story.every_type()


def test_new_columns(story: Story) -> None:
    """A column is there before the lake has it."""
    story.new_columns()


def test_while_rows_come_and_rounds_commit(story: Story) -> None:
    """It is what our own SQL says at that moment."""
    story.busy()


def test_catalogs_are_looked_through(story: Story) -> None:
    """Schemas and tables are listed as people list them."""
    table = story.table("listed")
    table.append([{"id": 1, "item": "a", "amount": 1}])
    story.round(table)
    ask = story.engine.ask
    assert {("trino",), ("now.trino",)} <= set(ask("SHOW SCHEMAS FROM lake"))
    assert ("listed",) in ask("SHOW TABLES FROM lake.trino")
    assert ("listed",) in ask('SHOW TABLES FROM lake."now.trino"')
    assert len(ask('SELECT * FROM lake."now.trino"."listed$snapshots"')) == 1


def test_tables_of_others_are_written(story: Story) -> None:
    """By all that Trino has for it, into the lake of the cluster, beside the cluster's own tables."""
    table = story.table("source")
    table.append([{"id": 1, "item": "boots", "amount": 1}])
    ask = story.engine.ask
    ask("CREATE SCHEMA lake.lab")
    ask("CREATE TABLE lake.lab.tries (id bigint, item varchar) WITH (partitioning = ARRAY['bucket(id, 2)'])")
    ask("INSERT INTO lake.lab.tries VALUES (1, 'a'), (2, 'b'), (3, 'c')")
    ask("DELETE FROM lake.lab.tries WHERE id = 2")
    ask("UPDATE lake.lab.tries SET item = 'c!' WHERE id = 3")
    ask(
        "MERGE INTO lake.lab.tries t USING (VALUES (1, 'a!'), (9, 'new')) s(id, item) ON t.id = s.id "
        "WHEN MATCHED THEN UPDATE SET item = s.item WHEN NOT MATCHED THEN INSERT VALUES (s.id, s.item)"
    )
    ask("ALTER TABLE lake.lab.tries ADD COLUMN note varchar")
    ask("ALTER TABLE lake.lab.tries RENAME COLUMN note TO remark")
    ask("ALTER TABLE lake.lab.tries EXECUTE optimize")
    assert sorted(ask("SELECT id, item, remark FROM lake.lab.tries")) == [
        (1, "a!", None),
        (3, "c!", None),
        (9, "new", None),
    ]
    ask("CREATE TABLE lake.lab.copied WITH (sorted_by = ARRAY['id']) AS SELECT id, item FROM lake.\"now.trino\".source")
    assert ask("SELECT id, item FROM lake.lab.copied") == [(1, "boots")]
    ask("CREATE OR REPLACE TABLE lake.lab.copied AS SELECT 7 AS x")
    assert ask("SELECT x FROM lake.lab.copied") == [(7,)]
    with pytest.raises(Exception, match="create"):  # the cluster's own table is written in the cluster
        ask("CREATE TABLE lake.trino.source (x integer)")
    for name in ("tries", "copied"):
        ask(f"DROP TABLE lake.lab.{name}")
    ask("DROP SCHEMA lake.lab")
    assert ("lab",) not in ask("SHOW SCHEMAS FROM lake")
