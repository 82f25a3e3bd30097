"""OpenedLake: a lake's catalog and tables, as options name them; opened once in a process."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from threading import Lock
from urllib.parse import urlparse

from lakeward.errors import ErrorCode
from lakeward.lake.formats import lake_format
from lakeward.lake.iceberg.read.lake_files import CATALOG_FILE, warehouse_directory
from lakeward.lake.port import Browsable, LakeReader, LakeSnapshot, Readable
from lakeward.model.table import TableInfo, TablePath
from lakeward.runtime.secret_text import reveal_secrets

_open: dict[tuple[int, str, tuple[tuple[str, str], ...]], OpenedLake] = {}
_lock = Lock()


class OpenedLake:
    """A lake, to be read."""

    def __init__(self, format_name: str, catalog: Browsable) -> None:
        self._format = format_name
        self._catalog = catalog

    @classmethod
    def of(cls, format_name: str, given: Mapping[str, str]) -> OpenedLake:
        """The lake in this place; a place where there is none is refused, and stays as it is."""
        properties = reveal_secrets(given)
        _check_there(format_name, properties)
        key = (os.getpid(), format_name, tuple(sorted(properties.items())))
        with _lock:
            if key not in _open:
                catalog = lake_format(format_name).catalog(properties)
                if not isinstance(catalog, Browsable):
                    raise ErrorCode.LAKE_STORAGE_NOT_CONFIGURED.error(f"A lake of '{format_name}' is not read here.")
                _open[key] = cls(format_name, catalog)
            return _open[key]

    def databases(self) -> list[str]:
        """The names of all databases, sorted."""
        return self._catalog.databases()

    def tables(self, database: str) -> list[str]:
        """The names of a database's tables, sorted."""
        return self._catalog.tables(database)

    def describe(self, path: TablePath) -> TableInfo | None:
        """A table in our words; None if there is none."""
        return self._catalog.describe(path)

    def reader(self, path: TablePath) -> LakeReader:
        """A table as it is now."""
        info = self.describe(path)
        table: object = self._catalog.load(path)
        if info is None or not isinstance(table, Readable):
            raise ErrorCode.TABLE_NOT_EXIST.error(f"The lake has no table {path}.")
        if self._format == "iceberg":  # its files say by themselves which rows they have
            info = replace(info, descriptor=replace(info.descriptor, partition_keys=()))
        return table.reader(info)


def chosen_snapshot(
    path: TablePath, reader: LakeReader, snapshot_id: int | None, tag: str | None, as_of_ms: int | None
) -> LakeSnapshot | None:
    """The snapshot that is read: the newest, or as options name it; None while there is none."""
    known = reader.history()
    if tag is not None:
        tags = reader.tags()
        if tag not in tags:
            raise ErrorCode.LAKE_SNAPSHOT_NOT_EXIST.error(
                f"The lake's table {path} has no tag '{tag}'; it has {', '.join(sorted(tags)) or 'none'}."
            )
        return tags[tag]
    if snapshot_id is not None:
        found = next((s for s in known if s.snapshot_id == snapshot_id), None)
        if found is None:
            raise ErrorCode.LAKE_SNAPSHOT_NOT_EXIST.error(
                f"The lake's table {path} has no snapshot {snapshot_id}; it has"
                f" {', '.join(str(s.snapshot_id) for s in known[:10]) or 'none'}."
            )
        return found
    if as_of_ms is not None:
        found = next((s for s in known if s.committed_ms <= as_of_ms), None)
        if found is None:
            raise ErrorCode.LAKE_SNAPSHOT_NOT_EXIST.error(f"The lake's table {path} has no snapshot that is so old.")
        return found
    return known[0] if known else None


def _check_there(format_name: str, properties: Mapping[str, str]) -> None:
    """Opening a local lake for writing would make it."""
    if format_name == "iceberg":
        directory = warehouse_directory(properties)
        place = None if directory is None else directory / CATALOG_FILE
    else:
        parsed = urlparse(properties.get("warehouse", ""))
        place = Path(parsed.path) if parsed.scheme in {"", "file"} and parsed.path else None
    if place is not None and not place.exists():
        raise ErrorCode.LAKE_STORAGE_NOT_CONFIGURED.error(
            f"There is no {format_name.capitalize()} lake in {properties.get('warehouse')}: {place} is missing. The"
            " tiering service makes it with the first table."
        )
