"""What an older Spark lacks is said in a sentence that names what to do."""

from __future__ import annotations

from typing import TYPE_CHECKING

import plain_source
import pyspark
import pytest

import lakeward as lw

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from server_process import ServerProcess

pytestmark = [pytest.mark.timeout(300), pytest.mark.filterwarnings("ignore::FutureWarning")]


def test_this_is_the_older_one() -> None:
    """The directory that `make test-peer` puts first hides the PySpark of `.venv`."""
    assert pyspark.__version__.startswith("4.1.")


def test_streams_without_the_jar_are_refused(spark: SparkSession, server: ServerProcess, database: str) -> None:
    """A Python data source of Spark 4.1 is not told where its stream stands; the same query runs with the jar."""
    plain_source.register(spark)
    with lw.connect(server.bootstrap) as conn:
        conn.create_table(f"{database}.t", "id BIGINT").append([{"id": 1}])

    def copied(source: str) -> int:
        stream = spark.readStream.format(source).option("bootstrap.servers", server.bootstrap).load(f"{database}.t")
        name = f"copied_{source}"
        query = stream.writeStream.format("memory").queryName(name).trigger(availableNow=True).start()
        query.awaitTermination()
        return spark.table(name).count()

    with pytest.raises(pyspark.errors.PySparkException, match="add Lakeward's jar"):
        copied(plain_source.NAME)
    assert copied("fluss") == 1


def test_aggregates_of_the_jar_run_here_too(spark: SparkSession) -> None:
    """They are classes of Spark's own side, which differs from version to version."""
    rows = "VALUES (1, 3, 1L), (1, 2, 1L), (1, 2, -1L), (1, 5, 1L), (2, 4, 1L), (2, 4, -1L) AS t(k, v, w)"
    answers = spark.sql(
        "SELECT k, lakeward_min(v, w), lakeward_max(string(v), w), lakeward_count_distinct(v, k, w), "
        f"lakeward_sum(v, w), lakeward_avg(v, w), lakeward_var_pop(double(v), w) FROM {rows} GROUP BY k ORDER BY k"
    )
    assert [tuple(row) for row in answers.collect()] == [
        (1, 3, "5", 2, 8, 4.0, 1.0),
        (2, None, None, 0, None, None, None),
    ]
