"""The lake catalog that a table is in, opened once in a process: as a reader was told, else as the table says.

Readers that need no catalog are opened without one.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from threading import Lock

from lakeward.errors import ErrorCode
from lakeward.lake.formats import lake_format, quick_reader
from lakeward.lake.port import LakeCatalog, LakeReader, Readable
from lakeward.model.table import TableInfo
from lakeward.options.table import LAKE_FORMAT

_open: dict[tuple[int, str, tuple[tuple[str, str], ...]], LakeCatalog] = {}
_lock = Lock()


def catalog_of(info: TableInfo, given: Mapping[str, str]) -> LakeCatalog:
    """The catalog of a table; `given` are properties by the format's own names, and win over the table's."""
    name, properties = format_name(info), _properties(info, given)
    key = (os.getpid(), name, tuple(sorted(properties.items())))  # a forked worker has files and sockets of its own
    with _lock:
        found = _open.get(key)
        if found is None:
            found = _open[key] = lake_format(name).catalog(properties)
        return found


def reader_of(info: TableInfo, given: Mapping[str, str]) -> LakeReader | None:
    """The lake's table as it is now, for readers; None when the lake does not have it."""
    name = format_name(info)
    quick = quick_reader(name)
    found = None if quick is None else quick(_properties(info, given), info)
    if found is not None:
        return found[0]
    table = catalog_of(info, given).load(info.path)
    if table is not None and not isinstance(table, Readable):
        raise ErrorCode.LAKE_STORAGE_NOT_CONFIGURED.error(f"tables in the format '{name}' are not read here yet")
    return None if table is None else table.reader(info)


def _properties(info: TableInfo, given: Mapping[str, str]) -> dict[str, str]:
    prefix = f"table.datalake.{format_name(info)}."
    told = {k.removeprefix(prefix): v for k, v in info.descriptor.properties.items() if k.startswith(prefix)}
    return told | dict(given)


def format_name(info: TableInfo) -> str:
    """The lake format of a table."""
    found = LAKE_FORMAT.read(info.descriptor.properties)
    if found is None:
        raise ErrorCode.LAKE_STORAGE_NOT_CONFIGURED.error(
            f"{info.path} names no lake format: start the server with datalake.format=iceberg, or create the table "
            "with 'table.datalake.format'."
        )
    return str(found)
