"""Our tiering service moves an Apache Fluss cluster's tables into the lake tables that its coordinator created."""

from __future__ import annotations

import json
import os
import threading
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from bench.apache_fluss import lake_catalog
from eventually import eventually
from log_watcher import LogWatcher
from pyiceberg.catalog import load_catalog

import lakeward as lw
from lakeward.query.plan.planner import plan_read
from lakeward.query.plan.splits import Tier
from lakeward.query.read.read import read_splits
from lakeward.query.request.request import ReadRequest
from lakeward.query.stream.stream import TableStream
from lakeward.tiering.assembly import assemble, local_runner
from lakeward.tiering.settings import TieringSettings

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]

_BOOTSTRAP, _DIRECTORY = json.loads(os.environ["LAKEWARD_PEER_LAKE"])
_TIERED = {"table.datalake.enabled": "true", "table.datalake.freshness": "1s"}


@pytest.fixture
def conn() -> Iterator[lw.Connection]:
    """A connection to the cluster."""
    with lw.connect(_BOOTSTRAP) as opened:
        yield opened


@pytest.fixture
def tiering(conn: lw.Connection, tmp_path: Path) -> Iterator[None]:
    """A tiering service of ours, on threads of this process; the cluster says where its lake is."""
    settings = TieringSettings(_BOOTSTRAP, {}, state_dir=tmp_path)
    service = assemble(settings, conn, local_runner(conn, 2), LogWatcher())
    thread = threading.Thread(target=service.run)
    thread.start()
    yield
    service.stop()
    thread.join()


def in_lake(path: str, key: Callable[[dict[str, Any]], Any]) -> list[Any]:
    """The rows of the lake's table as pyiceberg reads them."""
    properties = lake_catalog(Path(_DIRECTORY))
    catalog = load_catalog(properties.pop("name"), **properties)
    return sorted(map(key, catalog.load_table(path).scan().to_arrow().to_pylist()))


def settled(path: str, key: Callable[[dict[str, Any]], Any], wanted: list[Any]) -> bool:
    """Whether the lake has just these rows."""
    return in_lake(path, key) == wanted


@pytest.mark.usefixtures("tiering")
def test_a_log_flows_on_round_by_round(conn: lw.Connection) -> None:
    """Rows of two rounds are in the lake once each, and the cluster knows how far the lake is."""
    path = f"fluss.log_{uuid.uuid4().hex[:8]}"
    table = conn.create_table(path, "id BIGINT, name STRING", buckets=2, properties=_TIERED)
    table.append([{"id": i, "name": f"row {i}"} for i in range(500)])
    assert eventually(lambda: settled(path, lambda row: row["id"], list(range(500))), within_s=120)
    table.append([{"id": i, "name": f"row {i}"} for i in range(500, 600)])
    assert eventually(lambda: settled(path, lambda row: row["id"], list(range(600))), within_s=120)
    known = conn.lake.snapshot(path)
    assert known is not None
    assert sum(known.offsets.values()) <= 600


@pytest.mark.usefixtures("tiering")
def test_a_primary_key_table_is_in_the_lake_as_it_is(conn: lw.Connection) -> None:
    """Updates and deletes follow; any Iceberg reader sees the rows as the cluster has them."""
    path = f"fluss.keyed_{uuid.uuid4().hex[:8]}"
    columns = "id BIGINT NOT NULL, name STRING"
    table = conn.create_table(path, columns, primary_key=["id"], buckets=2, properties=_TIERED)
    table.upsert([{"id": i, "name": "old"} for i in range(300)])
    assert eventually(lambda: len(in_lake(path, lambda row: row["id"])) == 300, within_s=120)
    table.upsert([{"id": i, "name": "new"} for i in range(0, 300, 3)])
    table.delete([{"id": 5}, {"id": 6}])
    wanted = sorted((row["id"], row["name"]) for row in table.snapshot().to_pylist())
    assert eventually(lambda: settled(path, lambda row: (row["id"], row["name"]), wanted), within_s=120)


# -- union reads -------------------------------------------------------------------------------------------------------


def lake_options() -> dict[str, str]:
    """Where the lake is, as options of a read."""
    return {f"lake.{key}": value for key, value in lake_catalog(Path(_DIRECTORY)).items()}


@pytest.fixture
def halves(conn: lw.Connection, tmp_path: Path, keyed: bool) -> lw.Table:
    """A table with rows in the lake, and changes since that only the log has: no service runs any more."""
    path = f"fluss.union_{uuid.uuid4().hex[:8]}"
    key = {"primary_key": ["id"]} if keyed else {}
    table = conn.create_table(path, "id BIGINT NOT NULL, name STRING", buckets=2, properties=_TIERED, **key)
    put = table.upsert if keyed else table.append
    put([{"id": i, "name": "cold"} for i in range(300)])
    service = assemble(
        TieringSettings(_BOOTSTRAP, lake_catalog(Path(_DIRECTORY)), state_dir=tmp_path),
        conn,
        local_runner(conn, 2),
        LogWatcher(),
    )
    thread = threading.Thread(target=service.run)
    thread.start()
    assert eventually(lambda: len(in_lake(path, lambda row: row["id"])) == 300, within_s=120)
    service.stop()
    thread.join()
    put([{"id": i, "name": "hot"} for i in range(300, 350)])
    if keyed:
        put([{"id": 1, "name": "hot"}])
        table.delete([{"id": 2}])
    return table


def wanted(keyed: bool) -> list[tuple[int, str]]:
    """The rows of both halves."""
    rows = {i: "cold" if i < 300 else "hot" for i in range(350)}
    if keyed:
        rows[1] = "hot"
        del rows[2]
    return sorted(rows.items())


@pytest.mark.parametrize("keyed", [False, True])
def test_hot_and_cold_are_one_table(conn: lw.Connection, halves: lw.Table, keyed: bool) -> None:
    """In a plan, in SQL, in a stream that begins with the lake; and the cold part alone."""
    request = ReadRequest.of_name(str(halves.path), options=lake_options())
    plan = plan_read(conn, request)
    assert {split.tier for split in plan.splits} == ({Tier.HYBRID} if keyed else {Tier.LAKE_ONLY, Tier.LOG_ONLY})
    found = [row for batch in read_splits(conn, request, plan.splits) for row in batch.to_pylist()]
    assert sorted((row["id"], row["name"]) for row in found) == wanted(keyed)
    answer = conn.sql(f"SELECT count(*) AS n, count(DISTINCT id) AS ids FROM {halves.path}", lake_options())
    assert answer.to_pylist() == [{"n": len(wanted(keyed)), "ids": len(wanted(keyed))}]
    cold = conn.sql(f'SELECT count(*) AS n FROM fluss."{halves.path.table}$lake"', lake_options())
    assert cold.to_pylist() == [{"n": 300}]
    stream = TableStream(conn, request)
    begin = stream.initial()
    batch = stream.plan(begin, stream.latest(begin))
    assert any(split.tier is not Tier.LOG_ONLY for split in batch.splits)
    streamed = [row for rows in read_splits(conn, request, batch.splits) for row in rows.to_pylist()]
    assert sorted((row["id"], row["name"]) for row in streamed) == wanted(keyed)


@pytest.mark.parametrize("keyed", [False, True])
def test_hot_and_cold_are_one_table_in_spark(spark_here: SparkSession, halves: lw.Table, keyed: bool) -> None:
    """By its name in the catalog, which knows where the lake is."""
    rows = spark_here.table(f"fluss.{halves.path}").collect()
    assert sorted((row.id, row.name) for row in rows) == wanted(keyed)
    assert spark_here.table(f"fluss.{halves.path}$lake").count() == 300


@pytest.fixture(scope="module")
def spark_here() -> Iterator[SparkSession]:
    """A session whose catalog knows the cluster and its lake."""
    import sys
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
        lake = {f"spark.sql.catalog.fluss.{key}": value for key, value in lake_options().items()}
        session = lw.spark.session(
            _BOOTSTRAP,
            master="local[2]",
            app_name="lakeward-peer-lake",
            **{"spark.ui.enabled": "false", "spark.driver.memory": "1g", **lake},
        )
        session.sparkContext.setLogLevel("OFF")
        yield session
        session.stop()
