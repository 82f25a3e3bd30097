"""Tables in PySpark: read, write, stream and join them.

    import lakeward

    spark = lakeward.spark.session("localhost:9123")
    spark.table("fluss.shop.orders").groupBy("item").sum("amount").show()

| room | what it holds |
|---|---|
| setup | a SparkSession with Java, jar, catalog and settings in place |
| bridge | one Python process for each task of a JVM: calls and rows over a Unix socket |
| source | the data source `fluss` without the jar |
| lookup | rows of a table looked up by key for every row of a DataFrame |
| ingest | streams of Kafka and of databases |
| scripts | SQL with WITH (…), watermarks, windows and lookup joins; streams that go on as jobs |
| pipelines | whole databases, copied and followed as a YAML file says |
| tiering | the tiering service as a Spark application |
| write, read, catalog | what the jar can call |
| socket | what travels between a JVM and its bridge |
| table | what both doors share of a table and its rows |
| jvm | the jar and its Java sources |

The only package that imports pyspark, and only where a session is at hand: the bridge starts without it.
"""

from __future__ import annotations

from importlib import import_module as _import_module
from typing import TYPE_CHECKING as _TYPE_CHECKING

if _TYPE_CHECKING:
    from lakeward.spark.lookup.lookups import lookup_join
    from lakeward.spark.scripts.script import script
    from lakeward.spark.setup.jar import jar_path
    from lakeward.spark.setup.spark_session import session
    from lakeward.spark.source.data_source import FlussDataSource

__all__ = ["FlussDataSource", "jar_path", "lookup_join", "script", "session"]

# No module is called as a name here: importing it would put the module where the function is expected.
_HOME_OF = {
    "FlussDataSource": "source.data_source",
    "jar_path": "setup.jar",
    "lookup_join": "lookup.lookups",
    "script": "scripts.script",
    "session": "setup.spark_session",
}


def __getattr__(name: str) -> object:
    home = _HOME_OF.get(name)
    if home is None:
        raise AttributeError(f"module 'lakeward.spark' has no attribute {name!r}")
    value = getattr(_import_module(f"lakeward.spark.{home}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return list(__all__)
