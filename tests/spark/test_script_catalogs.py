"""Catalogs of scripts: what is made in one is found again, by another script too."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pytest
from server_process import ServerProcess
from tiering_runs import Warehouse

import lakeward as lw
from lakeward.errors import AlreadyExistsError, LakewardError, NotFoundError
from lakeward.language.changes import Changes
from lakeward.language.grammar import parse_script
from lakeward.language.statements.create_table import ComputedColumn, CreateTable, MetadataColumn, PhysicalColumn
from lakeward.language.statements.define import AddColumns, AlterTable, ChangePartitions, RenameTable, SetOptions
from lakeward.language.statements.statement import Name
from lakeward.language.statements.table_definition import TableDefinition
from lakeward.model.data_types import BIGINT, INT
from lakeward.model.table import TablePath
from lakeward.spark.scripts.catalogs.catalogs import Catalogs
from lakeward.spark.scripts.catalogs.port import Catalog, Made
from lakeward.spark.scripts.connectors.lake.opened_lake import OpenedLake
from lakeward.spark.scripts.connectors.port import Rows, Surroundings
from lakeward.spark.scripts.connectors.registry import Connectors

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def define(text: str, catalog: str, database: str) -> TableDefinition:
    """What a script makes of CREATE TABLE."""
    (made,) = parse_script(text)
    assert isinstance(made, CreateTable)
    return TableDefinition(
        catalog=catalog,
        database=database,
        name=made.name.parts[-1],
        columns=made.columns,
        primary_key=made.primary_key,
        watermark=made.watermark,
        distribution=made.distribution,
        partitioned_by=made.partitioned_by,
        comment=made.comment,
        options=made.options,
    )


@pytest.fixture
def connectors(server: ServerProcess) -> Connectors:
    """Those of a script whose server is the tests' server."""
    return Connectors(Surroundings(bootstrap_servers=server.bootstrap))


@pytest.fixture
def catalogs(server: ServerProcess, connectors: Connectors) -> Catalogs:
    """Those of a script."""
    return Catalogs(Surroundings(bootstrap_servers=server.bootstrap), connectors)


@pytest.fixture
def cluster(catalogs: Catalogs, server: ServerProcess) -> Catalog:
    """The server as a catalog `lake_shore`."""
    return catalogs.create("lake_shore", {"type": "fluss", "bootstrap.servers": server.bootstrap})


@pytest.fixture
def name() -> str:
    """A name that nobody has used."""
    return f"d_{uuid4().hex[:8]}"


EVENTS = """CREATE TABLE events (
  id BIGINT NOT NULL COMMENT 'counted',
  doubled AS id * 2 COMMENT 'twice',
  at TIMESTAMP(3),
  label AS CAST(id AS STRING) || 'it''s',
  place BIGINT METADATA FROM 'offset' VIRTUAL,
  dt STRING,
  WATERMARK FOR at AS at - INTERVAL '5' SECOND
) COMMENT 'what happened' PARTITIONED BY (dt) WITH ('bucket.num' = '2', 'scan.startup.mode' = 'earliest')"""


def rows(spark: SparkSession, connectors: Connectors, table: TableDefinition | None) -> list[tuple[Any, ...]]:
    """The rows of a table."""
    assert table is not None
    return sorted(tuple(row) for row in connectors.connector_of(table).source(table).batch(spark).collect())


class TestFluss:
    """A cluster as a catalog."""

    def test_a_table_is_found_by_another_script_as_it_was_made(
        self, server: ServerProcess, cluster: Catalog, name: str
    ) -> None:
        """Computed columns, metadata, watermark, comment, partitions and options."""
        cluster.create_database(name, None, {})
        made = define(EVENTS, "lake_shore", name)
        assert cluster.create_table(made) == Made(is_new=True)
        surroundings = Surroundings(bootstrap_servers=server.bootstrap)
        other = Catalogs(surroundings, Connectors(surroundings)).create("other", {"type": "fluss"})
        found = other.definition(name, "events")
        assert found is not None
        assert found.columns == made.columns
        assert found.columns[4] == MetadataColumn("place", BIGINT(), "offset", is_virtual=True)
        assert found.watermark == made.watermark
        assert (found.primary_key, found.partitioned_by, found.comment) == ((), ("dt",), "what happened")
        assert found.options["bucket.num"] == "2"
        assert found.options["scan.startup.mode"] == "earliest"
        assert other.tables(name) == ["events"]
        assert name in other.databases()
        other.drop_database(name, if_exists=False, is_cascade=True)
        assert name not in cluster.databases()

    def test_rows_by_way_of_the_catalog(
        self, spark: SparkSession, connectors: Connectors, cluster: Catalog, name: str
    ) -> None:
        """Written and read by the definition that the catalog hands out; `$changelog` too."""
        cluster.create_database(name, None, {})
        text = "CREATE TABLE users (id BIGINT, name STRING, PRIMARY KEY (id) NOT ENFORCED)"
        cluster.create_table(define(text, "lake_shore", name))
        table = cluster.definition(name, "users")
        assert table is not None
        connector = connectors.connector_of(table)
        connector.sink(table).write_batch(Rows(spark.sql("SELECT 1L AS id, 'Ada' AS name")))
        assert rows(spark, connectors, table) == [(1, "Ada")]
        changelog = cluster.definition(name, "users$changelog")
        assert changelog is not None
        assert connectors.connector_of(changelog).source(changelog).changes is Changes.APPEND
        ((change, _, _, *values),) = rows(spark, connectors, changelog)
        assert (change, values) == ("insert", [1, "Ada"])
        cluster.drop_database(name, if_exists=False, is_cascade=True)

    def test_a_table_is_changed(
        self, spark: SparkSession, connectors: Connectors, conn: lw.Connection, cluster: Catalog, name: str
    ) -> None:
        """Properties, columns, partitions and the name."""
        cluster.create_database(name, None, {})
        made = define(EVENTS, "lake_shore", name)
        cluster.create_table(made)
        assert cluster.alter_table(made, SetOptions({"log.retention.hours": "48"})) == ()
        assert conn.table(f"{name}.events").info.descriptor.properties["table.log.ttl"] == "48 h"
        (altered,) = parse_script("ALTER TABLE t ADD (extra INT, more AS extra + 1)")
        assert isinstance(altered, AlterTable)
        cluster.alter_table(made, altered.change)
        found = cluster.definition(name, "events")
        assert found is not None
        names = ["id", "doubled", "at", "label", "place", "dt", "extra", "more"]
        assert [column.name for column in found.columns] == names
        assert isinstance(found.columns[-1], ComputedColumn)
        cluster.alter_table(made, ChangePartitions(is_added=True, partitions=((("dt", "2026"),),)))
        assert [p.spec for p in conn.table(f"{name}.events").partitions()] == [{"dt": "2026"}]
        cluster.alter_table(made, RenameTable(Name(("facts",))))
        assert cluster.tables(name) == ["facts"]
        with pytest.raises(LakewardError, match="not an option of the connector"):
            cluster.alter_table(replace(made, name="facts"), SetOptions({"bucket.nmu": "1"}))
        cluster.drop_database(name, if_exists=False, is_cascade=True)

    def test_what_is_there_and_what_is_not(self, cluster: Catalog, name: str) -> None:
        """Errors tell the two apart."""
        cluster.create_database(name, None, {})
        table = define("CREATE TABLE t (id INT)", "lake_shore", name)
        cluster.create_table(table)
        assert cluster.create_table(table) == Made(is_new=False)
        with pytest.raises(LakewardError, match="its column id is INT, not BIGINT"):
            cluster.create_table(define("CREATE TABLE t (id BIGINT)", "lake_shore", name))
        assert cluster.create_database(name, None, {}) == Made(is_new=False)
        with pytest.raises(LakewardError):
            cluster.drop_database(name, if_exists=False, is_cascade=False)
        assert cluster.definition(name, "x") is None
        with pytest.raises(NotFoundError):
            cluster.drop_table(name, "x", if_exists=False)
        with pytest.raises(LakewardError, match="TEMPORARY TABLE"):
            cluster.create_table(replace(table, name="k", options={"connector": "datagen"}))
        with pytest.raises(LakewardError, match="everybody can read it") as wrong:
            cluster.create_table(replace(table, name="k", options={"lake.s3.secret-access-key": "hush"}))
        assert "hush" not in str(wrong.value)
        with pytest.raises(LakewardError, match="leave it out"):
            cluster.create_table(replace(table, name="k", options={"bootstrap.servers": "x:1"}))
        cluster.drop_database(name, if_exists=False, is_cascade=True)

    def test_sparks_own_sql_knows_it(self, spark: SparkSession, cluster: Catalog, name: str) -> None:
        """Under the same name, by settings of the session."""
        cluster.create_database(name, None, {})
        cluster.create_table(define("CREATE TABLE t (id INT)", "lake_shore", name))
        for key, value in cluster.spark_settings.items():
            spark.conf.set(key, value)
        assert spark.sql(f"SHOW TABLES IN lake_shore.{name}").collect()[0].tableName == "t"
        cluster.drop_database(name, if_exists=False, is_cascade=True)


class TestInMemory:
    """Definitions of one script."""

    def test_a_definition_is_kept_and_its_table_made(
        self, spark: SparkSession, connectors: Connectors, catalogs: Catalogs, conn: lw.Connection, name: str
    ) -> None:
        """In the cluster's database `fluss`; dropping the definition leaves the table."""
        catalog = catalogs.catalog("default_catalog")
        assert (catalog.default_database, catalog.databases()) == ("default_database", ["default_database"])
        made = define(f"CREATE TABLE {name} (id BIGINT)", "default_catalog", "default_database")
        assert catalog.create_table(made) == Made(is_new=True)
        assert catalog.definition("default_database", name) == made
        assert catalog.tables("default_database") == [name]
        assert conn.has_table(f"fluss.{name}")
        assert catalog.create_table(made) == Made(is_new=False)
        with pytest.raises(AlreadyExistsError, match="and is another"):
            catalog.create_table(replace(made, comment="other"))
        catalog.alter_table(made, AddColumns((PhysicalColumn("v", INT()),)))
        assert conn.table(f"fluss.{name}").info.schema.names == ("id", "v")
        catalog.alter_table(made, RenameTable(Name(("other",))))
        table = catalog.definition("default_database", "other")
        assert table is not None
        connectors.connector_of(table).sink(table).write_batch(Rows(spark.sql("SELECT 1L AS id, 2 AS v")))
        assert rows(spark, connectors, table) == [(1, 2)]
        catalog.drop_table("default_database", "other", if_exists=False)
        assert catalog.tables("default_database") == []
        assert conn.has_table(f"fluss.{name}")

    def test_a_definition_that_is_wrong_is_not_kept(self, catalogs: Catalogs) -> None:
        """Nor is one whose table cannot be made."""
        catalog = catalogs.catalog("default_catalog")
        made = define("CREATE TABLE t (id BIGINT) WITH ('connector' = 'printt')", "default_catalog", "default_database")
        with pytest.raises(LakewardError, match="did you mean 'print'"):
            catalog.create_table(made)
        with pytest.raises(LakewardError, match="There is no database"):
            catalog.create_table(replace(made, database="x", options={}))
        assert catalog.tables("default_database") == []


class TestLake:
    """A lake as a catalog: what tiering has put there, and what others have."""

    @pytest.mark.covering
    @pytest.mark.parametrize("keyed", [False, True])
    def test_tables_of_a_lake_are_read(
        self,
        spark: SparkSession,
        connectors: Connectors,
        catalogs: Catalogs,
        lake: Warehouse,
        tiered: dict[str, str],
        database: str,
        keyed: bool,
    ) -> None:
        """The newest snapshot, or an older one by its number or its time; as a stream, once."""
        table = lake.conn.create_table(
            f"{database}.t",
            "id BIGINT NOT NULL, name STRING, at TIMESTAMP(3), tags ARRAY<STRING>, dt STRING NOT NULL",
            primary_key=["id", "dt"] if keyed else [],
            partition_by=["dt"],
            buckets=2,
            properties=tiered,
        )
        put = table.upsert if keyed else table.append
        at = datetime(2026, 11, 1)
        put([{"id": i, "name": f"n{i}", "at": at, "tags": ["a"], "dt": f"d{i % 2}"} for i in range(4)])
        lake.round(table)
        if keyed:
            put([{"id": 1, "name": "new", "at": at, "tags": None, "dt": "d1"}])
            table.delete([{"id": 2, "dt": "d0"}])
        else:
            put([{"id": 4, "name": "n4", "at": at, "tags": [], "dt": "d0"}])
        lake.round(table)
        kind = tiered["table.datalake.format"]
        catalog = catalogs.create("cold", {"type": kind, "warehouse": str(lake.directory)})
        assert catalog.databases() == [database]
        assert catalog.tables(database) == ["t"]
        assert catalog.definition(database, "x") is None
        found = catalog.definition(database, "t")
        assert found is not None
        assert [column.name for column in found.columns][:5] == ["id", "name", "at", "tags", "dt"]
        assert (found.primary_key, found.partitioned_by) == (("id", "dt") if keyed else (), ("dt",))
        first = {(i, f"n{i}", at, ("a",), f"d{i % 2}") for i in range(4)}
        if keyed:
            second = {row for row in first if row[0] not in (1, 2)} | {(1, "new", at, None, "d1")}
        else:
            second = {*first, (4, "n4", at, (), "d0")}
        assert lake_rows(spark, connectors, found) == second
        reader = OpenedLake.of(kind, {"warehouse": str(lake.directory)}).reader(TablePath(database, "t"))
        oldest = next(s for s in reader.history() if s.committed_ms <= reader.snapshots()[-1].committed_ms)
        by_id = replace(found, options={**found.options, "scan.snapshot-id": str(oldest.snapshot_id)})
        by_time = replace(found, options={**found.options, "scan.timestamp-millis": str(oldest.committed_ms)})
        assert lake_rows(spark, connectors, by_id) == lake_rows(spark, connectors, by_time) == first
        with pytest.raises(Exception, match="has no snapshot 7"):
            lake_rows(spark, connectors, replace(found, options={**found.options, "scan.snapshot-id": "7"}))

    @pytest.mark.covering("paimon")
    def test_a_snapshot_as_a_stream_ends(
        self,
        spark: SparkSession,
        connectors: Connectors,
        catalogs: Catalogs,
        lake: Warehouse,
        tiered: dict[str, str],
        database: str,
        tmp_path: Path,
    ) -> None:
        """Its rows come once, also when the query is begun again."""
        table = lake.conn.create_table(f"{database}.t", "id BIGINT", properties=tiered)
        table.append([{"id": i} for i in range(10)])
        lake.round(table)
        options = {"type": tiered["table.datalake.format"], "warehouse": str(lake.directory)}
        found = catalogs.create("cold", options).definition(database, "t")
        assert found is not None
        source = connectors.connector_of(found).source(found)
        assert source.is_bounded
        seen: list[int] = []
        for _ in range(2):
            writer = source.stream(spark).writeStream.option("checkpointLocation", str(tmp_path / "c"))
            query = writer.trigger(availableNow=True).foreachBatch(
                lambda frame, _: seen.extend(row.id for row in frame.collect())
            )
            started = query.start()
            started.awaitTermination(60)
        assert sorted(seen) == list(range(10))

    def test_a_lake_is_only_read(self, catalogs: Catalogs, lake: Warehouse) -> None:
        """And one that is not there is not made by looking."""
        with pytest.raises(LakewardError, match="There is no Iceberg lake"):
            catalogs.create("nowhere", {"type": "iceberg", "warehouse": str(lake.directory / "no")})
        assert not (lake.directory / "no").exists()
        (lake.directory / "p").mkdir(parents=True)
        catalog = catalogs.create("cold", {"type": "paimon", "warehouse": str(lake.directory / "p")})
        assert catalog.databases() == []
        with pytest.raises(LakewardError, match="only read here"):
            catalog.create_table(define("CREATE TABLE t (id INT)", "cold", "d"))
        with pytest.raises(LakewardError, match="only read here"):
            catalog.create_database("d", None, {})


def lake_rows(spark: SparkSession, connectors: Connectors, table: TableDefinition) -> set[tuple[Any, ...]]:
    """The rows of a lake's table without its system columns."""
    frame = connectors.connector_of(table).source(table).batch(spark)
    found = [tuple(row) for row in frame.select("id", "name", "at", "tags", "dt").collect()]
    assert len(set(map(repr, found))) == len(found)
    return {(i, n, a, None if t is None else tuple(t), d) for i, n, a, t, d in found}
