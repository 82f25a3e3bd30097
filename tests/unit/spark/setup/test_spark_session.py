"""The settings a session is started with; no JVM runs."""

from __future__ import annotations

import subprocess
import sys

import pytest

import lakeward
from lakeward.errors import InvalidError
from lakeward.spark.setup.spark_session import catalog_settings, local_environment, local_settings


def test_the_connector_is_an_attribute_that_loads_on_first_use() -> None:
    """`lakeward.spark.session` needs no second import, and neither it nor its types load pyspark by themselves."""
    code = (
        "import sys, lakeward; lakeward.spark.session;"
        "import lakeward.spark.table.types, lakeward.spark.setup.spark_session;"
        "print(callable(lakeward.spark.session), 'pyspark' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["True", "False"]
    assert not hasattr(lakeward.spark, "sesion")
    assert set(dir(lakeward.spark)) == {"FlussDataSource", "jar_path", "lookup_join", "script", "session"}


def test_a_catalog_is_two_settings() -> None:
    """The class, and where the cluster is."""
    assert catalog_settings("a:1,b:2", "other") == {
        "spark.sql.catalog.other": "io.lakeward.spark.FlussCatalog",
        "spark.sql.catalog.other.bootstrap.servers": "a:1,b:2",
    }


def test_settings_for_one_machine_stay_on_it() -> None:
    """A cluster keeps its own addresses and its own number of shuffle partitions."""
    assert local_settings("local[7]")["spark.sql.shuffle.partitions"] == "7"
    assert local_settings("local[3,2]")["spark.sql.shuffle.partitions"] == "3"
    assert not {"spark.driver.host", "spark.sql.shuffle.partitions"} & set(local_settings("spark://host:7077"))
    assert local_environment("local[*]") == {"SPARK_LOCAL_IP": "127.0.0.1"}
    assert local_environment("spark://host:7077") == {}


def test_a_setting_that_is_nobodys_is_refused() -> None:
    """A misspelt name would otherwise do nothing, silently."""
    with pytest.raises(InvalidError, match=r"'shuffle_partitions'.*'spark\.' or 'client\.'"):
        lakeward.spark.session(shuffle_partitions=4)


def test_between_fork_and_java_nothing_of_ours_runs() -> None:
    """PySpark wants a hook there; a Ctrl-C in that moment showed a trace of our handler."""
    code = """
from pyspark import java_gateway
from lakeward.spark.setup.spark_session import _kept_jvm

def hook():
    print("a hook ran", flush=True)

with _kept_jvm():
    java_gateway.Popen(["true"], preexec_fn=hook).wait()
print("started")
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["started"]
