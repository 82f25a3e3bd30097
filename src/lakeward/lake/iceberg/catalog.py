"""Our table → an Iceberg table: schema with comments, partition spec, sort order, properties; new columns follow."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from threading import Lock
from urllib.parse import urlparse

import pydantic
from pyiceberg.catalog import Catalog, load_catalog
from pyiceberg.exceptions import NoSuchTableError, NotInstalledError, TableAlreadyExistsError, ValidationError
from pyiceberg.table import Table
from pyiceberg.table.metadata import TableMetadata, new_table_metadata
from pyiceberg.table.update.schema import UpdateSchema

from lakeward.errors import ErrorCode
from lakeward.lake.files.s3_properties import iceberg_properties
from lakeward.lake.iceberg.bucket_catalog import BucketCatalog
from lakeward.lake.iceberg.java_catalogs import FOLDERS, python_catalog
from lakeward.lake.iceberg.read.lake_files import CATALOG_FILE, CATALOG_NAME, names_catalog, warehouse_directory
from lakeward.lake.iceberg.schema.described_table import describe_table
from lakeward.lake.iceberg.schema.format_version import check_writable, unreadable_metadata
from lakeward.lake.iceberg.schema.layout import partition_spec, sort_order
from lakeward.lake.iceberg.schema.types import iceberg_schema, iceberg_type
from lakeward.lake.iceberg.table import IcebergTable
from lakeward.lake.rows.storable import check_storable
from lakeward.lake.rows.system_columns import BUCKET
from lakeward.model.schema import Column
from lakeward.model.table import TableInfo, TablePath

#: Properties that readers need to see; what a table says for itself in `iceberg.*` comes on top.
_DEFAULTS = {"write.parquet.compression-codec": "zstd", "write.metadata.delete-after-commit.enabled": "true"}
_KEYED = {f"write.{change}.mode": "merge-on-read" for change in ("delete", "update", "merge")}
_VERSION = "format-version"
_OURS, _THEIRS = "iceberg.", "fluss."


class IcebergCatalog:
    """Lake tables by name, in any catalog pyiceberg knows; if none is named, in that of the warehouse itself."""

    def __init__(self, properties: Mapping[str, str]) -> None:
        self._catalog = open_catalog(properties)
        self._creating = Lock()

    def ensure(self, info: TableInfo) -> IcebergTable:
        """The lake's table for one of ours: created if missing, new columns added."""
        check_storable(info)
        try:
            table = self._load(info.path)
        except NoSuchTableError:
            table = self._create(info)
        check_writable(table.metadata.format_version, info)
        _follow_columns(table, info)
        return IcebergTable(table, info)

    def load(self, path: TablePath) -> IcebergTable | None:
        """The lake's table, if there is one."""
        try:
            return IcebergTable(self._load(path))
        except NoSuchTableError:
            return None

    def drop(self, path: TablePath) -> None:
        """Remove a table with all its files, for good."""
        self._catalog.purge_table((path.database, path.table))

    def databases(self) -> list[str]:
        """The names of all databases, sorted."""
        return sorted(".".join(name) for name in self._catalog.list_namespaces())

    def tables(self, database: str) -> list[str]:
        """The names of a database's tables, sorted."""
        return sorted(name[-1] for name in self._catalog.list_tables(database))

    def describe(self, path: TablePath) -> TableInfo | None:
        """A table of the lake, whoever made it, as if it were ours."""
        try:
            return describe_table(path, self._load(path))
        except NoSuchTableError:
            return None

    def pyiceberg_table(self, path: TablePath) -> Table | None:
        """The table as pyiceberg has it, for who serves its metadata; None if there is none."""
        try:
            return self._load(path)
        except NoSuchTableError:
            return None

    def imagine_table(self, info: TableInfo) -> Table:
        """A table as `ensure` would create it; nothing is made by this."""
        check_storable(info)
        warehouse = self._catalog.properties.get("warehouse")
        if warehouse is None or not urlparse(warehouse).scheme:
            raise ErrorCode.LAKE_SNAPSHOT_NOT_EXIST.error(
                f"{info.path} is not in the lake yet, and its catalog does not say where it will be."
            )
        schema = iceberg_schema(info.schema)
        location = f"{warehouse.rstrip('/')}/{info.path.database}/{info.path.table}"
        metadata = new_table_metadata(
            schema, partition_spec(info, schema), sort_order(schema), location, _table_properties(info)
        )
        metadata = metadata.model_copy(update={"last_updated_ms": info.created_ms})
        io = self._catalog._load_file_io(metadata.properties, location)
        return Table((info.path.database, info.path.table), metadata, location, io, self._catalog)

    def _load(self, path: TablePath) -> Table:
        try:
            return self._catalog.load_table((path.database, path.table))
        except (ValidationError, pydantic.ValidationError) as wrong:
            raise unreadable_metadata(path, wrong) from wrong

    def _create(self, info: TableInfo) -> Table:
        schema = iceberg_schema(info.schema)
        name = (info.path.database, info.path.table)
        properties = _table_properties(info)
        if (version := properties.get(_VERSION)) is not None:
            check_writable(version, info)  # refused before it is there
        with self._creating:
            self._ensure_namespace(info.path.database)
            try:
                return self._catalog.create_table(
                    name,
                    schema,
                    partition_spec=partition_spec(info, schema),
                    sort_order=sort_order(schema),
                    properties=properties,
                )
            except TableAlreadyExistsError:
                return self._load(info.path)

    def _ensure_namespace(self, name: str) -> None:
        try:
            self._catalog.create_namespace_if_not_exists(name)
        except Exception:
            # Another service may have been faster, which not every catalog says in the same way.
            if not self._catalog.namespace_exists(name):
                raise


def _table_properties(info: TableInfo) -> dict[str, str]:
    descriptor = info.descriptor
    told = {_THEIRS + key: value for key, value in descriptor.properties.items()}
    own = {k.removeprefix(_OURS): v for k, v in descriptor.custom_properties.items() if k.startswith(_OURS)}
    return _DEFAULTS | (_KEYED if descriptor.has_primary_key else {}) | told | own


def _follow_columns(table: Table, info: TableInfo) -> None:
    """Columns that were added to our table are added to the lake's, in front of the system columns."""
    new = _new_columns(table, info)
    if new:
        with table.update_schema() as update:
            _add_columns(update, new)


def follow_columns(table: Table, info: TableInfo) -> TableMetadata:
    """The lake's metadata as it will be when it has the columns that were added; nothing is committed."""
    new = _new_columns(table, info)
    if not new:
        return table.metadata
    change = table.transaction()
    with change.update_schema() as update:
        _add_columns(update, new)
    return change.table_metadata


def _new_columns(table: Table, info: TableInfo) -> list[Column]:
    known = {f.name for f in table.schema().fields}
    return [c for c in info.schema.columns if c.name not in known]


def _add_columns(update: UpdateSchema, new: Sequence[Column]) -> None:
    for column in new:
        # pyiceberg renumbers nested fields; the ids given here only have to differ.
        update.add_column(column.name, iceberg_type(column.type.as_nullable(), count(1)), doc=column.comment)
        update.move_before(column.name, BUCKET)


def open_catalog(properties: Mapping[str, str]) -> Catalog:
    """The catalog that properties name, or that of the warehouse itself, which is made if it is not there."""
    settings = python_catalog(properties)
    name = settings.pop("name", CATALOG_NAME)
    if settings.get("type") == FOLDERS:
        return BucketCatalog(name, **settings)
    directory = warehouse_directory(settings)
    if directory is None:
        settings |= iceberg_properties(settings)
        return _load_named(name, settings) if names_catalog(settings) else BucketCatalog(name, **settings)
    directory.mkdir(parents=True, exist_ok=True)
    settings |= {"type": "sql", "uri": f"sqlite:///{directory / CATALOG_FILE}", "warehouse": directory.as_uri()}
    with _opening(directory):
        os.close(os.open(directory / CATALOG_FILE, os.O_RDONLY | os.O_CREAT, 0o600))
        return load_catalog(name, **settings)


def _load_named(name: str, settings: Mapping[str, str]) -> Catalog:
    try:
        return load_catalog(name, **settings)
    except (ValueError, ImportError, NotInstalledError) as wrong:
        kind = settings.get("type") or settings.get("py-catalog-impl") or settings.get("catalog-impl")
        raise ErrorCode.INVALID_CONFIG.error(
            f"The lake's catalog ({kind}) cannot be opened: {wrong}. 'datalake.iceberg.type' is one that pyiceberg has "
            "(sql, rest, hive, glue), or jdbc or hadoop, as Java's Iceberg calls them."
        ) from wrong


@contextmanager
def _opening(directory: Path) -> Iterator[None]:
    """One at a time, of all processes: whoever comes first creates the tables of the catalog."""
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
