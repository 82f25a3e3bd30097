"""Spark with Iceberg's own runtime, and nothing of ours in it, through the REST catalog: hot and cold as one."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import pytest
from catalog_process import CatalogProcess
from rest_story import AT_ONCE, Rows, Story
from server_process import ServerProcess
from tiering_runs import Warehouse
from tpch_tables import fill_tables, tpch, wrong_queries

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600), pytest.mark.filterwarnings("ignore::FutureWarning")]

_JAR = os.environ["LAKEWARD_PEER_REST_SPARK"]


class SparkReader:
    """Spark SQL; `lake` is the catalog."""

    def __init__(self, session: SparkSession) -> None:
        self.session = session

    def committed(self, database: str, table: str) -> str:
        """As the lake has it."""
        return f"lake.{database}.{table}"

    def now(self, database: str, table: str) -> Sequence[str]:
        """Quoted, or by the namespace."""
        return f"lake.{database}.`{table}$now`", f"lake.now.{database}.{table}"

    def ask(self, question: str) -> Rows:
        """Rows as tuples, rows in rows as such."""
        return [tuple(_plain(value) for value in row) for row in self.session.sql(question).collect()]


def _plain(value: Any) -> Any:
    return value.asDict(recursive=True) if hasattr(value, "asDict") else value


@pytest.fixture(scope="module")
def story(server: ServerProcess, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Story]:
    """A cluster, a local lake, a catalog that writes for others as well, and Spark."""
    from pyspark.sql import SparkSession

    place = tmp_path_factory.mktemp("rest")
    arguments = ("--warehouse", str(place / "lake"), "--others", "write", *AT_ONCE)
    with CatalogProcess(server.bootstrap, place / "log", *arguments) as catalog:
        settings = {
            "spark.jars": _JAR,
            "spark.sql.extensions": "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
            "spark.sql.catalog.lake": "org.apache.iceberg.spark.SparkCatalog",
            "spark.sql.catalog.lake.type": "rest",
            "spark.sql.catalog.lake.uri": catalog.url,
            "spark.sql.catalog.lake.cache-enabled": "false",
            "spark.ui.enabled": "false",
            "spark.driver.memory": "1g",
            "spark.driver.extraJavaOptions": "-XX:+UseSerialGC -XX:TieredStopAtLevel=1",
            "spark.sql.session.timeZone": "UTC",
            "spark.sql.shuffle.partitions": "2",
        }
        building = SparkSession.builder.master("local[2]").appName("rest")
        for key, value in settings.items():
            building = building.config(key, value)
        session = building.getOrCreate()
        session.sparkContext.setLogLevel("OFF")
        lake = Warehouse(server.bootstrap, place / "lake", is_told=True)
        lake.conn.create_database("shop")
        yield Story(lake.conn, lake.round, SparkReader(session), "shop")
        session.stop()
        lake.close()
    assert "Traceback" not in catalog.log_text, catalog.log_text[-4000:]


def test_log_and_key(story: Story) -> None:
    """Both kinds of tables, by both names, as our own SQL has them."""
    story.log_and_key()


def test_partitions(story: Story) -> None:
    """Also such as the lake does not have yet."""
    story.partitions()


def test_every_type(story: Story) -> None:
    """But for TIME, which Spark does not have."""
    story.every_type(times=False)


def test_new_columns(story: Story) -> None:
    """A column is there before the lake has it."""
    story.new_columns()


def test_while_rows_come_and_rounds_commit(story: Story) -> None:
    """It is what our own SQL says at that moment."""
    story.busy()


def test_catalogs_are_looked_through(story: Story) -> None:
    """Namespaces, nested ones and tables are listed as people list them."""
    table = story.table("listed")
    table.append([{"id": 1, "item": "a", "amount": 1}])
    story.round(table)
    ask = story.engine.ask
    assert ("shop",) in ask("SHOW NAMESPACES IN lake")
    assert ("now.shop",) in ask("SHOW NAMESPACES IN lake.now")
    assert "listed" in [row[1] for row in ask("SHOW TABLES IN lake.shop")]
    assert "listed" in [row[1] for row in ask("SHOW TABLES IN lake.now.shop")]
    assert len(ask("SELECT * FROM lake.now.shop.listed.snapshots")) == 1


def test_tables_of_others_are_written(story: Story) -> None:
    """Created, filled, merged, altered, renamed, dropped by Spark; the cluster's own refuse it in a sentence."""
    from pyspark.errors import PySparkException

    table = story.table("source", primary_key=["id"])
    table.upsert([{"id": i, "item": "cold", "amount": i} for i in range(5)])
    story.round(table)
    table.upsert([{"id": 4, "item": "hot", "amount": 40}])
    ask = story.engine.ask
    ask("CREATE NAMESPACE lake.lab")
    ask("CREATE TABLE lake.lab.tries (id BIGINT, item STRING) USING iceberg PARTITIONED BY (bucket(2, id))")
    ask("INSERT INTO lake.lab.tries VALUES (1, 'a'), (2, 'b')")
    ask("CREATE TABLE lake.shop.copied USING iceberg AS SELECT id, item FROM lake.now.shop.source")
    ask(
        "MERGE INTO lake.lab.tries t USING lake.shop.copied s ON t.id = s.id "
        "WHEN MATCHED THEN UPDATE SET item = s.item WHEN NOT MATCHED THEN INSERT *"
    )
    assert sorted(ask("SELECT id, item FROM lake.lab.tries")) == [*((i, "cold") for i in range(4)), (4, "hot")]
    ask("DELETE FROM lake.lab.tries WHERE id < 3")
    ask("ALTER TABLE lake.lab.tries ADD COLUMN note STRING")
    ask("ALTER TABLE lake.lab.tries RENAME TO lab.kept")
    assert sorted(ask("SELECT id, item, note FROM lake.lab.kept")) == [(3, "cold", None), (4, "hot", None)]
    ask("CREATE OR REPLACE TABLE lake.lab.kept USING iceberg AS SELECT 7 AS id")
    assert ask("SELECT * FROM lake.lab.kept") == [(7,)]
    for refused in (
        "INSERT INTO lake.shop.source SELECT * FROM lake.shop.source",
        "DROP TABLE lake.shop.source",
        "DELETE FROM lake.now.shop.source",
        "CREATE TABLE lake.shop.source (id BIGINT) USING iceberg",
    ):
        with pytest.raises((PySparkException, Exception), match=r"cluster|exists"):
            ask(refused)
    for dropped in ("TABLE lake.lab.kept PURGE", "TABLE lake.shop.copied", "NAMESPACE lake.lab"):
        ask(f"DROP {dropped}")
    assert ("lab",) not in ask("SHOW NAMESPACES IN lake")


@pytest.mark.parametrize("keyed", [False, True], ids=["log", "primary key"])
def test_all_22_queries_of_tpch_are_right(story: Story, keyed: bool) -> None:
    """Four fifths are cold; of primary key tables rows were updated and deleted after that."""
    database = f"tpch_{'keyed' if keyed else 'log'}"
    story.conn.create_database(database)
    with tpch() as duck:
        fill_tables(duck, story.conn, story.round, database, keyed=keyed)
        story.engine.ask(f"USE lake.now.{database}")
        assert wrong_queries(duck, story.engine.ask) == []
