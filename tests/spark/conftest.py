"""One SparkSession with the jar for all tests of this directory, and what they share."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from server_process import ServerProcess

import lakeward as lw

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_HERE = Path(__file__).parent
_SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.driver.memory": "1g",
    "spark.driver.extraJavaOptions": "-XX:+UseSerialGC -XX:TieredStopAtLevel=1",
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.session.timeZone": "UTC",
}
#: Compiling a plan takes longer than to walk over a few rows with it, and a stream has many.
_UNCOMPILED = {"spark.sql.codegen.wholeStage": "false", "spark.sql.codegen.factoryMode": "NO_CODEGEN"}
#: Where it is about values of all kinds, plans are compiled as they are for everybody.
_COMPILED = ("test_batch_read", "test_row_changes", "test_script_functions", "test_spark_types", "test_write")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Spark is slow to start, and does not know the newest pandas yet."""
    for item in items:
        if item.path.is_relative_to(_HERE):
            item.add_marker(pytest.mark.filterwarnings("ignore::FutureWarning"))
            if item.get_closest_marker("timeout") is None:
                item.add_marker(pytest.mark.timeout(300))


@pytest.fixture(scope="session", autouse=True)
def session_with_jar(server: ServerProcess, pythons_of_spark: dict[str, str]) -> Iterator[SparkSession]:
    """The session of this process; made before any other could be, since a jar cannot be added later."""
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
        with pytest.MonkeyPatch.context() as patch:
            for name, value in pythons_of_spark.items():
                patch.setenv(name, value)
            session = lw.spark.session(server.bootstrap, master="local[2]", app_name="lakeward-tests", **_SETTINGS)
        session.sparkContext.setLogLevel("OFF")
        yield session
        session.stop()


@pytest.fixture(autouse=True)
def quick_pythons(forked_pythons: None) -> None:
    """Others that a test starts fork theirs, too."""


@pytest.fixture(scope="module", autouse=True)
def plans(request: pytest.FixtureRequest, session_with_jar: SparkSession) -> Iterator[None]:
    """Plans are compiled, or not."""
    settings = {} if request.path.stem in _COMPILED else _UNCOMPILED
    for key, value in settings.items():
        session_with_jar.conf.set(key, value)
    yield
    for key in settings:
        session_with_jar.conf.unset(key)


@pytest.fixture
def spark(session_with_jar: SparkSession) -> SparkSession:
    """The session, in which the server's tables are `fluss.db.table`."""
    return session_with_jar


@pytest.fixture
def conn(server: ServerProcess) -> Iterator[lw.Connection]:
    """A connection of the test's own, to see what Spark did and to do what Spark is to see."""
    with lw.connect(server.bootstrap) as connection:
        yield connection
