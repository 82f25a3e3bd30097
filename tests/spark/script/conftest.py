"""A script on the session of this directory, in a database of the test's own."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from script_bench import Bench
from server_process import ServerProcess

from lakeward.spark.scripts.jobs.job_home import JobHome
from lakeward.spark.scripts.jobs.jobs import Jobs
from lakeward.spark.scripts.script import Script

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_numbers = count(1)


@pytest.fixture
def bench(spark: SparkSession, server: ServerProcess, tmp_path: Path) -> Iterator[Bench]:
    """A script whose tables are in a new database of the server, by a catalog of the type `fluss`."""
    database = f"script_{next(_numbers)}"

    def make() -> Script:
        script = Script(spark, server=server.bootstrap, jobs=Jobs(JobHome(tmp_path / "jobs")))
        script.run(
            f"CREATE CATALOG here WITH ('type' = 'fluss', 'bootstrap.servers' = '{server.bootstrap}');"
            f"USE CATALOG here; CREATE DATABASE IF NOT EXISTS {database}; USE {database};"
        )
        return script

    made = Bench(make, database)
    yield made
    made.script.jobs.stop()
    made.script.run(f"DROP DATABASE IF EXISTS {database} CASCADE")
