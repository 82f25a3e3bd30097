"""A Spark 4.1 session with Iceberg's own runtime beside ours; `make test-peer` brings both."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from server_process import ServerProcess

import lakeward as lw

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_JAR = os.environ.get("LAKEWARD_PEER_ICEBERG_JAR")

# Not part of `make test`: each needs a peer that `make test-peer` brings.
collect_ignore = ["test_apache_lake.py"] if "LAKEWARD_PEER_LAKE" not in os.environ else []
collect_ignore += ["test_apache_copy.py"] if "LAKEWARD_PEER_COPY" not in os.environ else []
collect_ignore += ["test_apache_remote.py"] if "LAKEWARD_PEER_REMOTE" not in os.environ else []
collect_ignore += ["test_apache_login.py"] if "LAKEWARD_PEER_LOGIN" not in os.environ else []
collect_ignore += ["test_apache_grants.py"] if "LAKEWARD_PEER_GRANTS" not in os.environ else []
collect_ignore += (
    [f"test_mixed_{what}.py" for what in ("clients", "login", "network", "remote", "replicas", "seat")]
    if "LAKEWARD_PEER_MIXED" not in os.environ
    else []
)
collect_ignore += ["test_java_client.py"] if "LAKEWARD_PEER_JAVA" not in os.environ else []
collect_ignore += ["test_flink.py"] if "LAKEWARD_PEER_FLINK" not in os.environ else []
collect_ignore += ["test_jdbc.py"] if "LAKEWARD_PEER_JDBC" not in os.environ else []
collect_ignore += ["test_opensearch.py"] if "LAKEWARD_PEER_SEARCH" not in os.environ else []
collect_ignore += ["test_rest_spark.py"] if "LAKEWARD_PEER_REST_SPARK" not in os.environ else []
collect_ignore += ["test_rest_trino.py"] if "LAKEWARD_PEER_REST_TRINO" not in os.environ else []
collect_ignore += [] if _JAR else ["test_iceberg_runtime.py", "test_older_spark.py"]

collect_ignore += [] if "LAKEWARD_PEER_KAFKA" in os.environ else ["test_kafka.py"]


@pytest.fixture(scope="session")
def spark(server: ServerProcess, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """One session: the server's tables are `fluss.db.table`, Iceberg's own are `ice.db.table`."""
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
        session = lw.spark.session(
            server.bootstrap,
            master="local[2]",
            app_name="lakeward-peer",
            **{
                "spark.jars": _JAR,
                "spark.sql.extensions": "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
                "spark.sql.catalog.ice": "org.apache.iceberg.spark.SparkCatalog",
                "spark.sql.catalog.ice.type": "hadoop",
                "spark.sql.catalog.ice.warehouse": str(tmp_path_factory.mktemp("warehouse")),
                "spark.ui.enabled": "false",
                "spark.driver.memory": "1g",
                "spark.driver.extraJavaOptions": "-XX:+UseSerialGC -XX:TieredStopAtLevel=1",
                "spark.sql.session.timeZone": "UTC",
            },
        )
        session.sparkContext.setLogLevel("OFF")
        yield session
        session.stop()
