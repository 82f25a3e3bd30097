"""Lakeward: streaming storage for real-time analytics that speaks the Apache Fluss protocol.

    import lakeward

    with lakeward.connect("localhost:9123") as conn:
        table = conn.create_table("fluss.clicks", "user_id BIGINT, url STRING", exist_ok=True)
        table.append([{"user_id": 1, "url": "/"}])
        print(table.scan().to_pandas())

Everything here loads on first use, so that `import lakeward` costs next to nothing.
"""

from __future__ import annotations

from importlib import import_module as _import_module

#: As type checkers know it from `typing`, which takes a moment to load: a Ctrl-C in that moment would be a traceback.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from lakeward import spark as spark
    from lakeward.client.blocking.sync import Connection
    from lakeward.client.blocking.sync_scan import Scan
    from lakeward.client.blocking.sync_table import Table
    from lakeward.client.blocking.sync_writers import Upserter, Writer
    from lakeward.client.forms.results import (
        AppendResult,
        BucketId,
        ClusterOption,
        DatabaseInfo,
        PartitionInfo,
        ServerInfo,
        Timestamp,
        UpsertResult,
    )
    from lakeward.client.lookup.missing_keys import KeyNotFoundError
    from lakeward.client.read.scan import AsyncScan
    from lakeward.client.tables.connection import AsyncConnection
    from lakeward.client.tables.table import AsyncTable
    from lakeward.client.upsert.upserter import AsyncUpserter
    from lakeward.client.write.writer import AsyncWriter
    from lakeward.errors import (
        AlreadyExistsError,
        CorruptError,
        DeniedError,
        ErrorCode,
        InvalidError,
        LakewardError,
        NotFoundError,
        RetriableError,
        UnsupportedError,
    )
    from lakeward.model.data_types import DataType
    from lakeward.model.schema import Column, Schema
    from lakeward.model.table import TableInfo, TablePath
    from lakeward.query.door import aconnect, connect
del TYPE_CHECKING

__all__ = [
    "AlreadyExistsError",
    "AppendResult",
    "AsyncConnection",
    "AsyncScan",
    "AsyncTable",
    "AsyncUpserter",
    "AsyncWriter",
    "BucketId",
    "ClusterOption",
    "Column",
    "Connection",
    "CorruptError",
    "DataType",
    "DatabaseInfo",
    "DeniedError",
    "ErrorCode",
    "InvalidError",
    "KeyNotFoundError",
    "LakewardError",
    "NotFoundError",
    "PartitionInfo",
    "RetriableError",
    "Scan",
    "Schema",
    "ServerInfo",
    "Table",
    "TableInfo",
    "TablePath",
    "Timestamp",
    "UnsupportedError",
    "UpsertResult",
    "Upserter",
    "Writer",
    "aconnect",
    "connect",
]

_HOMES = {
    "client.tables.connection": ("AsyncConnection",),
    "client.lookup.missing_keys": ("KeyNotFoundError",),
    "client.upsert.upserter": ("AsyncUpserter",),
    "client.forms.results": (
        "AppendResult",
        "BucketId",
        "ClusterOption",
        "DatabaseInfo",
        "PartitionInfo",
        "ServerInfo",
        "Timestamp",
        "UpsertResult",
    ),
    "client.read.scan": ("AsyncScan",),
    "client.blocking.sync": ("Connection",),
    "client.blocking.sync_scan": ("Scan",),
    "client.blocking.sync_table": ("Table",),
    "client.blocking.sync_writers": ("Upserter", "Writer"),
    "client.tables.table": ("AsyncTable",),
    "client.write.writer": ("AsyncWriter",),
    "errors": (
        "AlreadyExistsError",
        "CorruptError",
        "DeniedError",
        "ErrorCode",
        "InvalidError",
        "LakewardError",
        "NotFoundError",
        "RetriableError",
        "UnsupportedError",
    ),
    "model.data_types": ("DataType",),
    "model.schema": ("Column", "Schema"),
    "model.table": ("TableInfo", "TablePath"),
    "query.door": ("aconnect", "connect"),
}
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> object:
    if name == "spark":  # a package of its own: `lakeward.spark.session(…)` needs no second import
        return _import_module("lakeward.spark")
    home = _HOME_OF.get(name)
    if home is None:
        raise AttributeError(f"module 'lakeward' has no attribute {name!r}")
    value = getattr(_import_module(f"lakeward.{home}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return list(__all__)
