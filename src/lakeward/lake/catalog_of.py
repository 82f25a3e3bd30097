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
from lakeward.options.tiering import LAKE_WAREHOUSE, LATE_LAKE_FORMAT
from lakeward.runtime.secret_text import reveal_secrets

_CATALOGS = frozenset({"type", "uri", "catalog-impl", "py-catalog-impl"})
_FORMAT_DEFAULT = "iceberg"

_open: dict[tuple[int, str, tuple[tuple[str, str], ...]], LakeCatalog] = {}
_lock = Lock()


def catalog_of(info: TableInfo, given: Mapping[str, str]) -> LakeCatalog:
    """The catalog of a table; `given` are properties by the format's own names, and win over the table's."""
    name, properties = format_name(info), lake_properties(info, given)
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
    found = None if quick is None else quick(lake_properties(info, given), info)
    if found is not None:
        return found[0]
    table = catalog_of(info, given).load(info.path)
    if table is not None and not isinstance(table, Readable):
        raise ErrorCode.LAKE_STORAGE_NOT_CONFIGURED.error(f"tables in the format '{name}' are not read here yet")
    return None if table is None else table.reader(info)


def has_table(info: TableInfo, given: Mapping[str, str]) -> bool:
    """Whether a lake has a table; nothing is made by looking."""
    quick = quick_reader(format_name(info))
    found = None if quick is None else quick(lake_properties(info, given), info)
    return found[0] is not None if found is not None else catalog_of(info, given).load(info.path) is not None


def lake_properties(info: TableInfo, given: Mapping[str, str]) -> dict[str, str]:
    """How a table's catalog is opened: as is remembered of the table, as the cluster says, as somebody says here."""
    prefix = f"table.datalake.{format_name(info)}."
    told = {k.removeprefix(prefix): v for k, v in info.descriptor.properties.items() if k.startswith(prefix)}
    place = LAKE_WAREHOUSE.read(info.descriptor.custom_properties)
    known = {} if place is None or names_catalog(told) or names_catalog(given) else {"warehouse": str(place)}
    return told | known | reveal_secrets(given)


def names_catalog(properties: Mapping[str, str]) -> bool:
    """Whether a catalog is named that is not in the warehouse itself."""
    return bool(_CATALOGS & properties.keys())


def format_name(info: TableInfo) -> str:
    """The lake format of a table: its own, or the one it was given when it was first tiered."""
    own = LAKE_FORMAT.read(info.descriptor.properties)
    return str(own or LATE_LAKE_FORMAT.read(info.descriptor.custom_properties) or _told_format(info))


def _told_format(info: TableInfo) -> str:
    """The format that the cluster has a warehouse for; without one, the one that everything reads."""
    told = (key.split(".") for key in info.descriptor.properties if key.startswith("table.datalake."))
    return next((words[2] for words in told if words[3:] == ["warehouse"]), _FORMAT_DEFAULT)
