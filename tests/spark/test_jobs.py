"""Jobs on Spark: the same name goes on from the same checkpoint, and what cannot go on is told so."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from eventually import eventually

import lakeward as lw
from lakeward.spark.scripts.jobs.job_home import JobHome
from lakeward.spark.scripts.jobs.job_record import JobState
from lakeward.spark.scripts.jobs.jobs import Jobs
from lakeward.spark.scripts.jobs.stream_plan import StreamPlan

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.slow


@pytest.fixture
def jobs(tmp_path: Path) -> Iterator[Jobs]:
    """Jobs with a home of the test's own, stopped at its end."""
    made = Jobs(JobHome(tmp_path / "state"))
    yield made
    made.stop(0)


class World:
    """A database with a table to read and one to write."""

    def __init__(self, spark: SparkSession, conn: lw.Connection) -> None:
        self.spark, self._conn = spark, conn
        self.database = f"jobs_{uuid.uuid4().hex[:8]}"
        conn.create_database(self.database)
        for name in ("orders", "copies"):
            conn.create_table(f"{self.database}.{name}", "id BIGINT, n BIGINT")

    def add(self, first: int, count: int, table: str = "orders") -> None:
        """More rows to read: id, and id % 3."""
        rows = [{"id": i, "n": i % 3} for i in range(first, first + count)]
        self._conn.table(f"{self.database}.{table}").append(rows)

    def rows(self, table: str = "copies") -> list[tuple[Any, ...]]:
        """What was written, sorted."""
        return sorted(tuple(row) for row in self.spark.table(f"fluss.{self.database}.{table}").collect())

    def read(self, table: str = "orders", **options: str) -> DataFrame:
        """A stream of a table, from its beginning."""
        return self.spark.readStream.options(**{"scan.startup.mode": "earliest"}, **options).table(
            f"fluss.{self.database}.{table}"
        )

    def plan(
        self, frame: DataFrame, *, text: str = "INSERT …", sources: tuple[str, ...] = (), **more: Any
    ) -> StreamPlan:
        """Write a frame into the copies."""

        def start(checkpoint: str, name: str) -> Any:
            writer = frame.writeStream.queryName(name).option("checkpointLocation", checkpoint)
            return writer.toTable(f"fluss.{self.database}.copies")

        sources = sources or (f"{self.database}.orders",)
        return StreamPlan(f"fluss.{self.database}.copies", text, sources, more.pop("state", ""), start, **more)


@pytest.fixture
def world(spark: SparkSession, conn: lw.Connection) -> World:
    """Tables of the test's own."""
    return World(spark, conn)


def test_a_job_goes_on_where_it_was(jobs: Jobs, world: World) -> None:
    """Stopped in between, every row is there once, and progress counts the rows of each run."""
    world.add(0, 100)
    job = jobs.start([world.plan(world.read())], name="copy", script=None)
    assert eventually(lambda: job.progress()[0].rows == 100)
    job.stop()
    world.add(100, 50)
    again = jobs.start([world.plan(world.read())], name="copy", script=None)
    assert eventually(lambda: again.progress()[0].rows == 50)
    assert (again.progress()[0].lag_rows, again.progress()[0].lag_ms, again.is_continued) == (0, 0, True)
    again.stop()
    assert world.rows() == [(i, i % 3) for i in range(150)]


def test_the_end_of_a_bounded_stream_ends_its_job(jobs: Jobs, world: World) -> None:
    """All rows are written by then; run again it has nothing to do."""
    world.add(0, 100)

    def is_finished(report: dict[str, Any]) -> bool:
        return bool(report["sources"][0]["endOffset"]["buckets"]["0"] == 100)

    for rows in (100, 0):
        job = jobs.start([world.plan(world.read(), is_finished=is_finished)], name="copy", script=None)
        assert job.await_end(60)
        assert (job.state, job.progress()[0].rows) == (JobState.FINISHED, rows)
    assert world.rows() == [(i, i % 3) for i in range(100)]


def test_a_job_that_fails_says_why_in_a_sentence(jobs: Jobs, world: World) -> None:
    """Without Spark's wrapping; mended, it goes on where it was."""
    world.add(0, 10)
    job = jobs.start([world.plan(world.read().selectExpr("id", "id div 0 AS n"))], name="copy", script=None)
    assert eventually(lambda: job.state is JobState.FAILED)
    assert job.error is not None
    assert job.error.startswith("[DIVIDE_BY_ZERO] Division by zero.")
    assert "\n" not in job.error
    assert "Query [id" not in job.error
    mended = jobs.start([world.plan(world.read(), text="INSERT … mended")], name="copy", script=None)
    assert eventually(lambda: mended.progress()[0].rows == 10)
    mended.stop()
    assert world.rows() == [(i, i % 3) for i in range(10)]


@pytest.mark.long
def test_a_changed_query_that_the_planner_did_not_notice(jobs: Jobs, world: World, conn: lw.Connection) -> None:
    """Spark's own refusal ends in the same advice."""
    world.add(0, 10)
    job = jobs.start([world.plan(world.read())], name="copy", script=None)
    assert eventually(lambda: job.progress()[0].rows == 10)
    job.stop()
    two = world.read().union(world.read())
    changed = jobs.start([world.plan(two)], name="copy", script=None)
    assert eventually(lambda: changed.state is JobState.FAILED)
    assert changed.error is not None
    assert "cannot go on from its checkpoint with a changed query: " in changed.error
    assert "lakeward jobs drop copy" in changed.error


def test_state_goes_on_too(jobs: Jobs, world: World, conn: lw.Connection) -> None:
    """Counts by key are those of all rows, over two runs; the rows that are kept are shown."""
    conn.create_table(f"{world.database}.counts", "n BIGINT, total BIGINT, PRIMARY KEY (n)")

    def start(checkpoint: str, name: str) -> Any:
        counts = world.read().groupBy("n").count().withColumnRenamed("count", "total")
        writer = counts.writeStream.outputMode("update").queryName(name).option("checkpointLocation", checkpoint)
        return writer.toTable(f"fluss.{world.database}.counts")

    plan = StreamPlan("counts", "INSERT …", ("orders",), "GROUP BY n", start)
    for first in (0, 90):
        world.add(first, 90)
        job = jobs.start([plan], name=None, script=None)
        assert eventually(lambda job=job: job.progress()[0].rows == 90)  # type: ignore[misc]
        assert job.progress()[0].state_rows == 3
        job.stop()
    assert world.rows("counts") == [(0, 60), (1, 60), (2, 60)]


def test_damaged_state_is_told_as_such(jobs: Jobs, world: World, conn: lw.Connection) -> None:
    """Which checkpoint, and what to do; nothing is begun anew."""
    conn.create_table(f"{world.database}.counts", "n BIGINT, total BIGINT, PRIMARY KEY (n)")

    def start(checkpoint: str, name: str) -> Any:
        counts = world.read().groupBy("n").count().withColumnRenamed("count", "total")
        writer = counts.writeStream.outputMode("update").queryName(name).option("checkpointLocation", checkpoint)
        return writer.toTable(f"fluss.{world.database}.counts")

    plan = StreamPlan("counts", "INSERT …", ("orders",), "GROUP BY n", start)
    world.add(0, 90)
    job = jobs.start([plan], name="counts", script=None)
    assert eventually(lambda: job.progress()[0].rows == 90)
    job.stop()
    for delta in Path(job.checkpoint).rglob("*.delta"):
        delta.write_bytes(delta.read_bytes()[:10])
    jvm: Any = world.spark.sparkContext._jvm
    jvm.org.apache.spark.sql.execution.streaming.state.StateStore.stop()  # it forgets what it has in memory
    world.add(90, 90)
    again = jobs.start([plan], name="counts", script=None)
    assert eventually(lambda: again.state is JobState.FAILED)
    assert again.error is not None
    assert f"Its checkpoint {job.checkpoint} is damaged: " in again.error
    assert "`lakeward jobs drop counts`" in again.error


@pytest.mark.long
def test_a_session_that_ends_stops_its_jobs(jobs: Jobs, world: World, tmp_path: Path) -> None:
    """A query that somebody else stopped is a job that was stopped."""
    job = jobs.start([world.plan(world.read())], name="copy", script=None)
    job.streams[0].query.stop()
    assert job.await_end(30)
    assert job.state is JobState.STOPPED
