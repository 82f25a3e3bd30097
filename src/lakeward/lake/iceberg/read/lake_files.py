"""Files of the lake opened for reading: local ones here, others by pyiceberg. And the SQLite catalog of a warehouse."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any, Protocol
from urllib.parse import unquote, urlparse

from lakeward.errors import ErrorCode
from lakeward.lake.files.s3_path import is_s3
from lakeward.model.table import TablePath

CATALOG_NAME = "lakeward"
CATALOG_FILE = "catalog.db"
#: Properties that name a catalog; without them it is a file in the warehouse.
_NAMED = {"type", "uri", "py-catalog-impl"}
_LOCKED_S = 30


class Inputs(Protocol):
    """Opens files by their location; pyiceberg's FileIO does."""

    def new_input(self, location: str) -> Any:
        """A file, whose `open` gives a stream."""
        ...


class LocalInputs:
    """Files of this machine."""

    def new_input(self, location: str) -> LocalInput:
        """A file."""
        return LocalInput(local_path(location))


class LocalInput:
    """A file of this machine."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def open(self) -> IO[bytes]:
        """A stream of its bytes."""
        return self._path.open("rb")


def is_local(location: str) -> bool:
    """Whether a location is a file of this machine."""
    return urlparse(location).scheme in {"", "file"}


def local_path(location: str) -> Path:
    """The path of a local location."""
    return Path(unquote(urlparse(location).path)) if location.startswith("file:") else Path(location)


def names_catalog(properties: Mapping[str, str]) -> bool:
    """Whether a catalog is named; without one it is in the warehouse."""
    return bool(_NAMED & properties.keys())


def warehouse_directory(properties: Mapping[str, str]) -> Path | None:
    """The directory whose own SQLite file is the catalog; None where another is named, or it is in a bucket."""
    if names_catalog(properties):
        return None
    warehouse = properties.get("warehouse")
    if warehouse is None:
        raise ErrorCode.INVALID_CONFIG.error(
            "No Iceberg catalog is named: set 'datalake.iceberg.warehouse' to a directory or s3://bucket/folder, or "
            "'datalake.iceberg.type' and 'datalake.iceberg.uri' to a catalog."
        )
    if is_s3(warehouse):
        return None
    parsed = urlparse(warehouse)
    if parsed.scheme not in {"", "file"}:
        raise ErrorCode.INVALID_CONFIG.error(
            f"The warehouse {warehouse} is neither a local directory nor in S3 (s3://, s3a://), so its catalog cannot "
            "be in it: set 'datalake.iceberg.type' and 'datalake.iceberg.uri'."
        )
    return Path(parsed.path or warehouse).absolute()


def metadata_location(directory: Path, properties: Mapping[str, str], path: TablePath) -> str | None:
    """Where a table's metadata is, by the catalog in a warehouse; None when it does not have the table."""
    name = properties.get("name", CATALOG_NAME)
    file = (directory / CATALOG_FILE).as_uri()
    catalog = sqlite3.connect(f"{file}?mode=ro", uri=True, timeout=_LOCKED_S)
    try:
        found = catalog.execute(
            "SELECT metadata_location FROM iceberg_tables "
            "WHERE catalog_name = ? AND table_namespace = ? AND table_name = ?",
            (name, path.database, path.table),
        ).fetchone()
    except sqlite3.OperationalError as wrong:
        if "no such table" not in str(wrong):
            raise
        return None  # somebody is about to fill a catalog that is new
    finally:
        catalog.close()
    return None if found is None else str(found[0])
