"""Our table → a Paimon table in a directory, `<warehouse>/<database>.db/<table>`; new columns follow."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from urllib.parse import urlparse

from lakeward.errors import ErrorCode
from lakeward.lake.files.s3_path import LakePath, is_s3, lake_path
from lakeward.lake.files.s3_properties import store_settings
from lakeward.lake.paimon.schema.described_schema import describe_schema
from lakeward.lake.paimon.schema.schema_file import PaimonSchema, check_types, create_schema, newest_schema, schema_of
from lakeward.lake.paimon.schema.shape import TableShape
from lakeward.lake.paimon.table import PaimonTable
from lakeward.lake.rows.storable import check_storable
from lakeward.lake.rows.system_columns import BUCKET, OFFSET, TIMESTAMP
from lakeward.model.table import TableInfo, TablePath
from lakeward.runtime.clock import Clock, SystemClock

_DATABASE_END = ".db"
_METASTORE = ("metastore", "filesystem")


class PaimonCatalog:
    """Lake tables by name, in a warehouse on a file system; Paimon needs no other catalog."""

    def __init__(self, properties: Mapping[str, str], clock: Clock | None = None) -> None:
        self._storage = store_settings(properties)
        self._warehouse = _warehouse(properties, self._storage)
        self._clock = clock or SystemClock()

    def ensure(self, info: TableInfo) -> PaimonTable:
        """The lake's table for one of ours: created if missing, new columns added."""
        _check_names(info)
        check_storable(info)
        directory = self._directory(info.path)
        schema = self._follow_schema(directory, info)
        check_types(schema, info)
        shape = TableShape.of(directory, schema, info, self._storage)
        return PaimonTable(directory, self._clock, self._storage, shape)

    def load(self, path: TablePath) -> PaimonTable | None:
        """The lake's table, if there is one."""
        directory = self._directory(path)
        return None if newest_schema(directory) is None else PaimonTable(directory, self._clock, self._storage)

    def drop(self, path: TablePath) -> None:
        """Remove a table with all its files, for good; its schemas first, so that nobody finds half of it."""
        directory = self._directory(path)
        for folder in (directory / "schema", directory):
            there: list[LakePath] = [*folder.rglob("*")]
            for found in there:
                if found.is_file():
                    found.unlink(missing_ok=True)
        if isinstance(directory, Path):  # in a bucket, folders are only names
            shutil.rmtree(directory, ignore_errors=True)

    def databases(self) -> list[str]:
        """The names of all databases, sorted."""
        return sorted({path.parent.parent.parent.name.removesuffix(_DATABASE_END) for path in self._schemas("*")})

    def tables(self, database: str) -> list[str]:
        """The names of a database's tables, sorted."""
        return sorted({path.parent.parent.name for path in self._schemas(database)})

    def describe(self, path: TablePath) -> TableInfo | None:
        """A table of the lake, whoever made it, as if it were ours."""
        schema = newest_schema(self._directory(path))
        return None if schema is None else describe_schema(path, schema)

    def _schemas(self, database: str) -> Iterator[LakePath]:
        return (path for path in self._warehouse.rglob("schema-0") if _is_schema_of(path, database))

    def _follow_schema(self, directory: LakePath, info: TableInfo) -> PaimonSchema:
        """The newest schema with all our columns; whoever makes the same change at the same time makes it for us."""
        while True:
            known = newest_schema(directory)
            if known is None:
                wanted = schema_of(info, self._clock.now_ms())
                TableShape.of(directory, wanted, info)  # refused before it is there
            else:
                there = {f.name for f in known.fields}
                new = [c for c in info.schema.columns if c.name not in there]
                if not new:
                    return known
                wanted = known.with_columns(new, self._clock.now_ms())
            if create_schema(directory, wanted):
                return wanted

    def _directory(self, path: TablePath) -> LakePath:
        return self._warehouse / f"{path.database}{_DATABASE_END}" / path.table


def _is_schema_of(path: LakePath, database: str) -> bool:
    folder = path.parent.parent.parent.name
    return path.parent.name == "schema" and (
        folder.endswith(_DATABASE_END) if database == "*" else folder == f"{database}{_DATABASE_END}"
    )


def _check_names(info: TableInfo) -> None:
    taken = {BUCKET, OFFSET, TIMESTAMP} & set(info.schema.names)
    if taken:
        raise ErrorCode.INVALID_TABLE.error(
            f"{info.path} has a column {', '.join(sorted(taken))}; in the lake that name is the system's."
        )


def _warehouse(properties: Mapping[str, str], storage: Mapping[str, str]) -> LakePath:
    warehouse = properties.get("warehouse")
    if warehouse is None:
        raise ErrorCode.INVALID_CONFIG.error(
            "No Paimon warehouse is named: set 'datalake.paimon.warehouse' to a directory or to s3://bucket/folder."
        )
    if properties.get(*_METASTORE) != _METASTORE[1]:
        raise ErrorCode.INVALID_CONFIG.error(
            f"'datalake.paimon.metastore' is {properties['metastore']}; tiering writes only to a {_METASTORE[1]}."
        )
    scheme = urlparse(warehouse).scheme
    if scheme not in {"", "file"} and not is_s3(warehouse):
        raise ErrorCode.INVALID_CONFIG.error(
            f"The Paimon warehouse {warehouse} is neither a local directory nor in S3 (s3://, s3a://); others are not "
            "written."
        )
    found = lake_path(warehouse, storage)
    return found.absolute() if isinstance(found, Path) else found
