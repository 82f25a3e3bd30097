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
