"""The data source `fluss` in Python, without the jar: streams in and out."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import plain_source
import pytest
from plain_source import HAS_STREAMS, NAME
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery
from server_process import ServerProcess

import lakeward as lw
from lakeward.client.blocking.groups import ConsumerGroups

pytestmark = [
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.timeout(300),
    pytest.mark.skipif(not HAS_STREAMS, reason="this Spark streams only with the jar"),
]


@pytest.fixture(scope="module")
def spark() -> SparkSession:
    """The session of this process."""
    return plain_source.plain_session()


@pytest.fixture
def conn(server: ServerProcess) -> Iterator[lw.Connection]:
    """A connection of the test's own."""
    with lw.connect(server.bootstrap) as connection:
        yield connection


class Streams:
    """Streams of one test: copies from table to table, each with its checkpoint."""

    def __init__(self, spark: SparkSession, bootstrap: str, checkpoint: Path) -> None:
        self._spark = spark
        self._bootstrap = {"bootstrap.servers": bootstrap}
        self.checkpoint = checkpoint

    def read(self, table: str, **options: str) -> DataFrame:
        """A stream of a table."""
        return self._spark.readStream.format(NAME).options(**self._bootstrap, **options).load(table)

    def start(self, df: DataFrame, table: str, *, available_now: bool = True, **options: str) -> StreamingQuery:
        """A query into a table; with `available_now` it has ended when this returns."""
        writer = df.writeStream.format(NAME).options(**self._bootstrap, table=table, **options)
        writer = writer.option("checkpointLocation", str(self.checkpoint))
        if not available_now:
            return writer.trigger(processingTime="0 seconds").start()
        query = writer.trigger(availableNow=True).start()
        query.awaitTermination()
        return query


@pytest.fixture
def streams(spark: SparkSession, server: ServerProcess, tmp_path: Path) -> Streams:
    """Streams against the session's server."""
    return Streams(spark, server.bootstrap, tmp_path / "checkpoint")


def _ids(table: lw.Table) -> list[int]:
    return sorted(table.scan(["id"]).to_arrow()["id"].to_pylist())


def test_a_stream_goes_on_exactly_where_it_was(conn: lw.Connection, database: str, streams: Streams) -> None:
    """Runs over what is available, with rows in between: each row arrives once, batches keep to their size."""
    source = conn.create_table(f"{database}.a", "id BIGINT, s STRING", buckets=2)
    sink = conn.create_table(f"{database}.b", "id BIGINT, s STRING", buckets=2)
    source.append({"id": list(range(25)), "s": ["x"] * 25})
    query = streams.start(streams.read(f"{database}.a", maxRowsPerTrigger="10"), f"{database}.b")
    assert [p["numInputRows"] for p in query.recentProgress if p["numInputRows"]] == [10, 10, 5]
    assert _ids(sink) == list(range(25))
    source.append({"id": list(range(25, 40)), "s": ["y"] * 15})
    streams.start(streams.read(f"{database}.a"), f"{database}.b")
    streams.start(streams.read(f"{database}.a"), f"{database}.b")
    assert _ids(sink) == list(range(40))


@pytest.mark.long
def test_a_batch_whose_commit_spark_forgot_is_not_written_twice(
    conn: lw.Connection, database: str, streams: Streams
) -> None:
    """Spark runs a batch again when its commit is missing from the checkpoint; the table does not show it."""
    source = conn.create_table(f"{database}.a", "id BIGINT", buckets=1)
    sink = conn.create_table(f"{database}.b", "id BIGINT", buckets=3)
    source.append({"id": list(range(50))})
    shuffled = streams.read(f"{database}.a", maxRowsPerTrigger="25").repartition(3, "id")
    streams.start(shuffled, f"{database}.b")
    for commit in (streams.checkpoint / "commits").glob("*1*"):
        commit.unlink()
    source.append({"id": list(range(50, 60))})
    streams.start(shuffled, f"{database}.b")
    assert _ids(sink) == list(range(60))


def test_full_gives_the_state_and_then_the_changes(conn: lw.Connection, database: str, streams: Streams) -> None:
    """Into a primary key table: upserts arrive, deletes too when the changelog says them."""
    source = conn.create_table(f"{database}.a", "id BIGINT, n STRING", primary_key=["id"], buckets=2)
    sink = conn.create_table(f"{database}.b", "id BIGINT, n STRING", primary_key=["id"], buckets=1)
    source.upsert({"id": [1, 2, 3], "n": ["a", "b", "c"]})
    source.upsert([{"id": 1, "n": "A"}])

    def copy() -> None:
        changes = streams.read(f"{database}.a$changelog").drop("_log_offset", "_commit_timestamp")
        streams.start(changes, f"{database}.b", **{"sink.change-type-column": "_change_type"})

    copy()
    source.upsert([{"id": 4, "n": "d"}])
    source.delete([2])
    copy()
    rows = sorted((r["id"], r["n"]) for r in sink.snapshot().to_pylist())
    assert rows == [(1, "A"), (3, "c"), (4, "d")]


def test_a_stream_of_rows_does_not_hide_deletes(conn: lw.Connection, database: str, streams: Streams) -> None:
    """It ends with an error that names the way out, unless deletes are to be left out."""
    source = conn.create_table(f"{database}.a", "id BIGINT, n STRING", primary_key=["id"], buckets=1)
    conn.create_table(f"{database}.b", "id BIGINT, n STRING", primary_key=["id"], buckets=1)
    source.upsert([{"id": 1, "n": "a"}])
    streams.start(streams.read(f"{database}.a"), f"{database}.b")
    source.delete([1])
    with pytest.raises(PySparkException, match=r"scan\.deletes"):
        streams.start(streams.read(f"{database}.a"), f"{database}.b")
    streams.start(streams.read(f"{database}.a", **{"scan.deletes": "ignore"}), f"{database}.b")


@pytest.mark.long
def test_groups_remember_what_was_read(conn: lw.Connection, database: str, streams: Streams, tmp_path: Path) -> None:
    """A new query of the group begins where the last one got to."""
    source = conn.create_table(f"{database}.a", "id BIGINT", buckets=1)
    sink = conn.create_table(f"{database}.b", "id BIGINT", buckets=1)
    source.append({"id": list(range(10))})
    options = {"properties.group.id": f"g_{database}", "scan.startup.mode": "group"}
    streams.start(streams.read(f"{database}.a", **options), f"{database}.b")
    (offset,) = ConsumerGroups(conn).committed(f"g_{database}", source.path).values()
    assert offset == 10
    source.append({"id": [10, 11]})
    streams.checkpoint = tmp_path / "second"
    streams.start(streams.read(f"{database}.a", **options), f"{database}.b")
    assert _ids(sink) == list(range(12))


@pytest.mark.long
def test_a_table_dropped_under_a_stream_is_told(conn: lw.Connection, database: str, streams: Streams) -> None:
    """The query ends with a sentence that names the table."""
    source = conn.create_table(f"{database}.a", "id BIGINT", buckets=1)
    conn.create_table(f"{database}.b", "id BIGINT", buckets=1)
    source.append([{"id": 1}])
    query = streams.start(streams.read(f"{database}.a"), f"{database}.b", available_now=False)
    query.processAllAvailable()
    conn.drop_table(f"{database}.a")
    with pytest.raises(PySparkException) as ended:
        query.awaitTermination(60)
    head = str(ended.value).split("=== Streaming Query ===")[0]
    assert f"{database}.a" in head
    assert "Traceback" not in head


def test_a_table_made_anew_is_data_loss(conn: lw.Connection, database: str, streams: Streams) -> None:
    """A checkpoint of another table of that name is refused; failOnDataLoss=false begins with what is there."""
    conn.create_table(f"{database}.a", "id BIGINT", buckets=1).append([{"id": 1}])
    sink = conn.create_table(f"{database}.b", "id BIGINT", buckets=1)
    streams.start(streams.read(f"{database}.a"), f"{database}.b")
    conn.drop_table(f"{database}.a")
    conn.create_table(f"{database}.a", "id BIGINT", buckets=1).append([{"id": 2}])
    with pytest.raises(PySparkException, match=r"DataLossError.*failOnDataLoss=false"):
        streams.start(streams.read(f"{database}.a"), f"{database}.b")
    streams.start(streams.read(f"{database}.a", failOnDataLoss="false"), f"{database}.b")
    assert _ids(sink) == [1, 2]


def test_new_partitions_are_found_and_dropped_ones_leave(conn: lw.Connection, database: str, streams: Streams) -> None:
    """Without a restart of anything."""
    source = conn.create_table(f"{database}.a", "id BIGINT, dt STRING", partition_by=["dt"], buckets=1)
    sink = conn.create_table(f"{database}.b", "id BIGINT, dt STRING", partition_by=["dt"], buckets=1)
    source.append([{"id": 1, "dt": "a"}])
    query = streams.start(streams.read(f"{database}.a"), f"{database}.b", available_now=False)
    try:
        query.processAllAvailable()
        source.append([{"id": 2, "dt": "b"}])
        query.processAllAvailable()
        source.drop_partition({"dt": "a"})
        source.append([{"id": 3, "dt": "b"}, {"id": 4, "dt": "c"}])
        query.processAllAvailable()
    finally:
        query.stop()
    sink.refresh()
    assert _ids(sink) == [1, 2, 3, 4]
    assert "latestOffset" in str(query.lastProgress)


@pytest.mark.long
def test_staged_files_can_lie_elsewhere(conn: lw.Connection, database: str, streams: Streams, tmp_path: Path) -> None:
    """sink.staging.dir holds a directory for each query, with nothing left in it but what guards against repetition."""
    source = conn.create_table(f"{database}.a", "id BIGINT", buckets=1)
    sink = conn.create_table(f"{database}.b", "id BIGINT", buckets=1)
    source.append({"id": list(range(100))})
    query = streams.start(streams.read(f"{database}.a"), f"{database}.b", **{"sink.staging.dir": str(tmp_path / "s")})
    assert [p.name for p in (tmp_path / "s").iterdir()] == [str(query.id)]
    assert _ids(sink) == list(range(100))
