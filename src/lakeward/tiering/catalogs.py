"""Which lake catalog a table belongs to: as the service was told, else as the cluster says of the table."""

from __future__ import annotations

from collections.abc import Mapping
from threading import Lock

from lakeward.errors import ErrorCode
from lakeward.lake.formats import lake_format
from lakeward.lake.port import LakeCatalog
from lakeward.model.table import TableInfo
from lakeward.options.table import LAKE_FORMAT


class LakeCatalogs:
    """Catalogs, opened when a table first needs them."""

    def __init__(self, given: Mapping[str, str]) -> None:
        """`given` are properties for every catalog, by pyiceberg's or pypaimon's names; they win over the cluster's."""
        self._given = dict(given)
        self._open: dict[tuple[str, tuple[tuple[str, str], ...]], LakeCatalog] = {}
        self._lock = Lock()

    def of(self, info: TableInfo) -> LakeCatalog:
        """The catalog of a table."""
        name = format_of(info)
        prefix = f"table.datalake.{name}."
        told = {k.removeprefix(prefix): v for k, v in info.descriptor.properties.items() if k.startswith(prefix)}
        properties = told | self._given
        key = (name, tuple(sorted(properties.items())))
        with self._lock:
            found = self._open.get(key)
            if found is None:
                found = self._open[key] = lake_format(name).catalog(properties)
            return found


def format_of(info: TableInfo) -> str:
    """The lake format of a table."""
    found = LAKE_FORMAT.read(info.descriptor.properties)
    if found is None:
        raise ErrorCode.LAKE_STORAGE_NOT_CONFIGURED.error(
            f"{info.path} names no lake format: start the server with datalake.format=iceberg, or create the table "
            "with 'table.datalake.format'."
        )
    return str(found)
