"""Tables in PySpark: read, write, stream and join them.

    import lakeward

    spark = lakeward.spark.session("localhost:9123")
    spark.table("fluss.shop.orders").groupBy("item").sum("amount").show()

| module | what it holds |
|---|---|
| spark_session | a SparkSession with Java, jar, catalog and settings in place |
| java_home | a Java for Spark: the machine's own, or the one that came with the extra `spark` |
| jar | where the jar with the catalog is |
| types, field_metadata | Spark's types ↔ column types, in Spark's JSON form |
| spark_arrow | batches as Spark wants them, and back |
| lookups, lookup_task, lookup_cache | rows of a table looked up by key for every row of a DataFrame |
| source, readers, stream_readers, writers | the data source `fluss` without the jar (no_streams: on Spark 4.1) |
| bridge, frames | one Python process for each task of a JVM: calls and rows over a Unix socket |
| calls, call | what the jar can call: catalog_calls, replace_calls, read_calls, stream_calls, write_calls |
| lake_tables | what the lake knows of a table, as tables: snapshots, history, files |
| property_names | properties of CREATE TABLE that are ours, or nearly |
| replacing | a table built beside another, which then takes its place; renaming by a copy |
| row_level | DELETE, UPDATE, MERGE and TRUNCATE: what they need beside plain writes |
| jvm | the jar and its Java sources |
| chosen_table, pushed_filters, rows_to_write, overwrite | what both doors share of a table and its rows |
| connections | one connection for each process and cluster |
| one_sentence | errors as Spark shows them shortest |
| tiering_job, spark_runner | the tiering service as a Spark application |

The only package that imports pyspark, and only where a session is at hand: the bridge starts without it.
"""

from __future__ import annotations

from importlib import import_module as _import_module
from typing import TYPE_CHECKING as _TYPE_CHECKING

if _TYPE_CHECKING:
    from lakeward.spark.jar import jar_path
    from lakeward.spark.lookups import lookup_join
    from lakeward.spark.source import FlussDataSource
    from lakeward.spark.spark_session import session

__all__ = ["FlussDataSource", "jar_path", "lookup_join", "session"]

# No module is called as a name here: importing it would put the module where the function is expected.
_HOME_OF = {
    "FlussDataSource": "source",
    "jar_path": "jar",
    "lookup_join": "lookups",
    "session": "spark_session",
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
