"""What the JVM can ask of a bridge process: one row per call. Each takes a Call; what it returns is the answer."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from lakeward.spark.call import Call

#: By name of the module and function: a process that only reads does not load what writes need.
CALLS = {
    # databases
    "databases": "catalog_calls.databases",
    "database": "catalog_calls.database",
    "create_database": "catalog_calls.create_database",
    "drop_database": "catalog_calls.drop_database",
    # tables
    "tables": "catalog_calls.tables",
    "table": "catalog_calls.table",
    "create_table": "catalog_calls.create_table",
    "alter_table": "catalog_calls.alter_table",
    "drop_table": "catalog_calls.drop_table",
    "lake_table": "lake_tables.lake_table",
    # a table that takes the place of another, or is made with its rows
    "stage_table": "replace_calls.stage_table",
    "commit_staged": "replace_calls.commit_staged",
    "abort_staged": "replace_calls.abort_staged",
    "rename_table": "replace_calls.rename_table",
    # partitions
    "partitions": "catalog_calls.partitions",
    "create_partition": "catalog_calls.create_partition",
    "drop_partition": "catalog_calls.drop_partition",
    "truncate_partition": "catalog_calls.truncate_partition",
    # a bounded read: rows follow as Arrow frames
    "plan": "read_calls.plan",
    "read": "read_calls.read",
    # a stream
    "stream.settings": "stream_calls.settings",
    "stream.initial": "stream_calls.initial",
    "stream.head": "stream_calls.head",
    "stream.latest": "stream_calls.latest",
    "stream.plan": "stream_calls.plan",
    "stream.metrics": "stream_calls.metrics",
    "stream.commit": "stream_calls.commit",
    # a write: tasks send rows as Arrow frames and get a part, the driver commits the parts
    "write.begin": "write_calls.begin",
    "write": "write_calls.write",
    "write.commit": "write_calls.commit",
    "write.abort": "write_calls.abort",
    # changes of single rows
    "row_level": "write_calls.row_level",
    "truncate": "write_calls.truncate",
}


def function_of(name: str) -> Callable[[Call], Any]:
    """The function that serves a call."""
    module, _, function = CALLS[name].partition(".")
    found: Callable[[Call], Any] = getattr(import_module(f"lakeward.spark.{module}"), function)
    return found
