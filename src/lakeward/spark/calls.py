"""What the JVM can ask of a bridge process: one row per call. Each takes a Call; what it returns is the answer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lakeward.spark import catalog_calls, read_calls, stream_calls, write_calls
from lakeward.spark.call import Call

CALLS: dict[str, Callable[[Call], Any]] = {
    # databases
    "databases": catalog_calls.databases,
    "database": catalog_calls.database,
    "create_database": catalog_calls.create_database,
    "drop_database": catalog_calls.drop_database,
    # tables
    "tables": catalog_calls.tables,
    "table": catalog_calls.table,
    "create_table": catalog_calls.create_table,
    "alter_table": catalog_calls.alter_table,
    "drop_table": catalog_calls.drop_table,
    # partitions
    "partitions": catalog_calls.partitions,
    "create_partition": catalog_calls.create_partition,
    "drop_partition": catalog_calls.drop_partition,
    "truncate_partition": catalog_calls.truncate_partition,
    # a bounded read: rows follow as Arrow frames
    "plan": read_calls.plan,
    "read": read_calls.read,
    # a stream
    "stream.settings": stream_calls.settings,
    "stream.initial": stream_calls.initial,
    "stream.head": stream_calls.head,
    "stream.latest": stream_calls.latest,
    "stream.plan": stream_calls.plan,
    "stream.metrics": stream_calls.metrics,
    "stream.commit": stream_calls.commit,
    # a write: tasks send rows as Arrow frames and get a part, the driver commits the parts
    "write.begin": write_calls.begin,
    "write": write_calls.write,
    "write.commit": write_calls.commit,
    "write.abort": write_calls.abort,
}

__all__ = ["CALLS", "Call"]
