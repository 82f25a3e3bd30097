"""What the JVM can ask of a bridge process: one row per call. Each takes a Call; what it returns is the answer."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from lakeward.spark.socket.call import Call

#: By name of the module and function: a process that only reads does not load what writes need.
CALLS = {
    # databases
    "databases": "catalog.catalog_calls.databases",
    "database": "catalog.catalog_calls.database",
    "create_database": "catalog.catalog_calls.create_database",
    "drop_database": "catalog.catalog_calls.drop_database",
    # tables
    "tables": "catalog.catalog_calls.tables",
    "table": "catalog.catalog_calls.table",
    "create_table": "catalog.catalog_calls.create_table",
    "alter_table": "catalog.catalog_calls.alter_table",
    "drop_table": "catalog.catalog_calls.drop_table",
    "lake_table": "catalog.lake_tables.lake_table",
    # a table that takes the place of another, or is made with its rows
    "stage_table": "catalog.replace_calls.stage_table",
    "commit_staged": "catalog.replace_calls.commit_staged",
    "abort_staged": "catalog.replace_calls.abort_staged",
    "rename_table": "catalog.replace_calls.rename_table",
    # partitions
    "partitions": "catalog.catalog_calls.partitions",
    "create_partition": "catalog.catalog_calls.create_partition",
    "drop_partition": "catalog.catalog_calls.drop_partition",
    "truncate_partition": "catalog.catalog_calls.truncate_partition",
    # a bounded read: rows follow as Arrow frames
    "plan": "read.read_calls.plan",
    "read": "read.read_calls.read",
    # a stream
    "stream.settings": "read.stream_calls.settings",
    "stream.initial": "read.stream_calls.initial",
    "stream.head": "read.stream_calls.head",
    "stream.latest": "read.stream_calls.latest",
    "stream.plan": "read.stream_calls.plan",
    "stream.metrics": "read.stream_calls.metrics",
    "stream.commit": "read.stream_calls.commit",
    # a write: tasks send rows as Arrow frames and get a part, the driver commits the parts
    "write.begin": "write.write_calls.begin",
    "write": "write.write_calls.write",
    "write.commit": "write.write_calls.commit",
    "write.abort": "write.write_calls.abort",
    # changes of single rows
    "row_level": "write.write_calls.row_level",
    "truncate": "write.write_calls.truncate",
}


def function_of(name: str) -> Callable[[Call], Any]:
    """The function that serves a call."""
    module, _, function = CALLS[name].rpartition(".")
    found: Callable[[Call], Any] = getattr(import_module(f"lakeward.spark.{module}"), function)
    return found
