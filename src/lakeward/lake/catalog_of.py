"""The lake catalog that a table is in, opened once in a process: as a reader was told, else as the table says."""

from __future__ import annotations

import os
from collections.abc import Mapping
from threading import Lock

from lakeward.errors import ErrorCode
from lakeward.lake.formats import lake_format
from lakeward.lake.port import LakeCatalog
from lakeward.model.table import TableInfo
from lakeward.options.table import LAKE_FORMAT

_open: dict[tuple[int, str, tuple[tuple[str, str], ...]], LakeCatalog] = {}
_lock = Lock()


def catalog_of(info: TableInfo, given: Mapping[str, str]) -> LakeCatalog:
    """The catalog of a table; `given` are properties by the format's own names, and win over the table's."""
    name = format_name(info)
    prefix = f"table.datalake.{name}."
    told = {k.removeprefix(prefix): v for k, v in info.descriptor.properties.items() if k.startswith(prefix)}
    properties = told | dict(given)
    key = (os.getpid(), name, tuple(sorted(properties.items())))  # a forked worker has files and sockets of its own
    with _lock:
        found = _open.get(key)
        if found is None:
            found = _open[key] = lake_format(name).catalog(properties)
        return found


def format_name(info: TableInfo) -> str:
    """The lake format of a table."""
    found = LAKE_FORMAT.read(info.descriptor.properties)
    if found is None:
        raise ErrorCode.LAKE_STORAGE_NOT_CONFIGURED.error(
            f"{info.path} names no lake format: start the server with datalake.format=iceberg, or create the table "
            "with 'table.datalake.format'."
        )
    return str(found)
