"""Bad batches through Spark: one sentence that names them, or every other row on purpose."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from poison import COLUMNS, POISON, bury, good_rows
from pyspark.sql import SparkSession
from server_process import ServerProcess

import lakeward as lw

KINDS = (
    "bytes that are not UTF-8",
    "string offsets that leave the buffer",
    "a billion rows",
    "more digits than the type has",
    "buffer outside the body",
)
GOOD = [0, 1, 2, 100, 101, 102]


@pytest.fixture(scope="module")
def buried(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    """A server with a table for each kind of poison, between good rows."""
    assert set(KINDS) <= set(POISON)
    with ServerProcess(tmp_path_factory.mktemp("spark-poison") / "data") as server:
        with lw.connect(server.bootstrap) as conn:
            conn.create_database("bad")
            for number in range(len(KINDS)):
                conn.create_table(f"bad.t{number}", COLUMNS, buckets=1).append(good_rows(0))
        server.stop()
        for number, kind in enumerate(KINDS):
            bury(server.data_dir, f"bad.t{number}", kind)
        server.start()
        with lw.connect(server.bootstrap) as conn:
            for number in range(len(KINDS)):
                conn.table(f"bad.t{number}").append(good_rows(100))
        yield server


@pytest.mark.parametrize("number", range(len(KINDS)), ids=KINDS)
def test_spark_names_a_bad_batch_or_leaves_it_out(spark: SparkSession, buried: ServerProcess, number: int) -> None:
    """The JVM lives on; the error names table, bucket and offset; with scan.skip-damaged all other rows come."""
    options = {"bootstrap.servers": buried.bootstrap, "table": f"bad.t{number}"}
    # A billion rows are read by two tasks, each from the middle or the start, and either may fail first.
    with pytest.raises(Exception, match=rf"bad\.t{number}, bucket 0, offsets? (3|536870915)\b"):
        spark.read.format("fluss").options(**options).load().collect()
    skipping = spark.read.format("fluss").options(**options, **{"scan.skip-damaged": "true"}).load()
    assert sorted(row.id for row in skipping.collect()) == GOOD
    assert skipping.count() == len(GOOD)
