"""BucketCatalog: Iceberg tables of a bucket without any other catalog, `<warehouse>/<database>/<table>`.

A version of a table is the file metadata/vN.metadata.json, which only one writer can create (If-None-Match: *); the
next one is N + 1. version-hint.text says where to begin to look. Iceberg's Hadoop tables lie in the same way, so that
readers of those find ours: DuckDB's iceberg_scan, Spark's Hadoop catalog.
"""

from __future__ import annotations

import re
from typing import Any

from pyiceberg.catalog import MetastoreCatalog
from pyiceberg.exceptions import (
    CommitFailedException,
    NamespaceAlreadyExistsError,
    NoSuchTableError,
    TableAlreadyExistsError,
)
from pyiceberg.partitioning import UNPARTITIONED_PARTITION_SPEC, PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.table import CommitTableResponse, Table
from pyiceberg.table.metadata import TableMetadata, TableMetadataUtil, new_table_metadata
from pyiceberg.table.sorting import UNSORTED_SORT_ORDER, SortOrder
from pyiceberg.table.update import TableRequirement, TableUpdate
from pyiceberg.typedef import Identifier, Properties

from lakeward.lake.files import whole_files
from lakeward.lake.files.s3_path import LakePath, lake_path
from lakeward.lake.files.s3_properties import iceberg_properties, store_settings

_HINT = "version-hint.text"
_NAMESPACE = "namespace.json"
_VERSION = re.compile(r"v(\d+)\.metadata\.json")


class BucketCatalog(MetastoreCatalog):
    """Creates, loads, commits and drops; what else a catalog can do is not for tiering."""

    def __init__(self, name: str, **properties: str) -> None:
        super().__init__(name, **properties, **iceberg_properties(properties))
        self._warehouse = lake_path(properties["warehouse"], store_settings(properties))

    # -- tables -------------------------------------------------------------------------------------------------------

    def load_table(self, identifier: str | Identifier) -> Table:
        """The newest version."""
        name = self.identifier_to_tuple(identifier)
        folder = self._folder(name)
        version = _after(folder, _hint(folder))
        if version is not None:
            try:
                return self._load(name, _file(folder, version))
            except FileNotFoundError:
                pass  # the hint is wrong, or a hundred commits have passed meanwhile
        version = _after(folder, _newest_version(folder))
        if version is not None:
            return self._load(name, _file(folder, version))
        raise NoSuchTableError(f"There is no table {'.'.join(name)} in {self._warehouse}.")

    def create_table(
        self,
        identifier: str | Identifier,
        schema: Any,
        location: str | None = None,
        partition_spec: PartitionSpec = UNPARTITIONED_PARTITION_SPEC,
        sort_order: SortOrder = UNSORTED_SORT_ORDER,
        properties: Properties | None = None,
    ) -> Table:
        """The first version; TableAlreadyExistsError if there is one."""
        assert isinstance(schema, Schema)
        name = self.identifier_to_tuple(identifier)
        folder = self._folder(name)
        metadata = new_table_metadata(
            location=location or str(folder.parent),
            schema=schema,
            partition_spec=partition_spec,
            sort_order=sort_order,
            properties=dict(properties or {}),
        )
        if _newest_version(folder) is not None or not self._write_version(folder, 1, metadata):
            raise TableAlreadyExistsError(f"Table {'.'.join(name)} already exists in {self._warehouse}.")
        return self.load_table(identifier)

    def commit_table(
        self, table: Table, requirements: tuple[TableRequirement, ...], updates: tuple[TableUpdate, ...]
    ) -> CommitTableResponse:
        """The next version, if nobody has made it meanwhile."""
        name = table.name()
        folder = self._folder(name)
        try:
            current: Table | None = self.load_table(name)
        except NoSuchTableError:  # it is created by this commit
            current = None
        staged = self._update_and_stage_table(current, name, requirements, updates)
        if current is not None and staged.metadata == current.metadata:
            return _commit_response(current.metadata, current.metadata_location)
        version = 1 if current is None else _number(current.metadata_location) + 1
        if not self._write_version(folder, version, staged.metadata):
            raise CommitFailedException(f"Version {version} of {'.'.join(name)} was made by another writer.")
        return _commit_response(staged.metadata, str(_file(folder, version)))

    def _folder(self, name: Identifier) -> LakePath:
        database, table = name
        return self._warehouse / database / table / "metadata"

    def _write_version(self, folder: LakePath, version: int, metadata: TableMetadata) -> bool:
        data = metadata.model_dump_json(exclude_none=True).encode()
        if not whole_files.create(_file(folder, version), data):
            return False
        whole_files.replace(folder / _HINT, str(version).encode())
        return True

    def _load(self, name: Identifier, path: LakePath) -> Table:
        metadata = TableMetadataUtil.parse_raw(path.read_text())
        io = self._load_file_io(metadata.properties, str(path))
        return Table(name, metadata, str(path), io, self)

    # -- names --------------------------------------------------------------------------------------------------------

    def create_namespace(self, namespace: str | Identifier, properties: Properties | None = None) -> None:
        """A folder needs no making."""

    def load_namespace_properties(self, namespace: str | Identifier) -> Properties:  # noqa: ARG002 - pyiceberg's
        """None are kept."""
        return {}

    def make_namespace(self, name: str) -> None:
        """A namespace that is there before it has tables: a file says so."""
        if not whole_files.create(self._warehouse / name / _NAMESPACE, b"{}"):
            raise NamespaceAlreadyExistsError(f"Namespace {name} already exists.")

    def drop_namespace(self, namespace: str | Identifier) -> None:
        """Remove what says that it is there; its tables are not looked at."""
        (self._warehouse / self.namespace_to_string(namespace) / _NAMESPACE).unlink(missing_ok=True)

    def drop_table(self, identifier: str | Identifier) -> None:
        """Remove the table's versions, newest last; its data stays."""
        folder = self._folder(self.identifier_to_tuple(identifier))
        (folder / _HINT).unlink(missing_ok=True)
        for version in sorted(_number(path.name) for path in folder.glob("v*.metadata.json")):
            _file(folder, version).unlink(missing_ok=True)

    def list_tables(self, namespace: str | Identifier) -> list[Identifier]:
        """The tables of a database."""
        database = self.namespace_to_string(namespace)
        hints = (path for path in (self._warehouse / database).rglob(_HINT))
        return [(database, path.parent.parent.name) for path in hints]

    def list_namespaces(self, namespace: str | Identifier = ()) -> list[Identifier]:  # noqa: ARG002 - pyiceberg's
        """The databases that have tables, and those that were made."""
        with_tables = {(path.parent.parent.parent.name,) for path in self._warehouse.rglob(_HINT)}
        return sorted(with_tables | {(path.parent.name,) for path in self._warehouse.rglob(_NAMESPACE)})

    # -- what nobody asks for -----------------------------------------------------------------------------------------

    def _not_here(self, *_: Any, **__: Any) -> Any:
        raise NotImplementedError(
            f"Tables in {self._warehouse} are folders: this is done with the tools of the bucket."
        )

    rename_table = register_table = update_namespace_properties = _not_here
    list_views = load_view = view_exists = register_view = drop_view = _not_here


def _commit_response(metadata: TableMetadata, location: str) -> CommitTableResponse:
    told: dict[str, Any] = {"metadata": metadata, "metadata-location": location}
    return CommitTableResponse(**told)


def _hint(folder: LakePath) -> int | None:
    """Where to begin to look; it may be behind, or wrong."""
    try:
        return int((folder / _HINT).read_text())
    except (FileNotFoundError, ValueError):
        return None


def _newest_version(folder: LakePath) -> int | None:
    """The newest version in a listing."""
    return max((_number(path.name) for path in folder.glob("v*.metadata.json")), default=None)


def _after(folder: LakePath, version: int | None) -> int | None:
    """The newest of the versions that follow one another from here on."""
    while version is not None and _file(folder, version + 1).is_file():
        version += 1
    return version


def _file(folder: LakePath, version: int) -> LakePath:
    return folder / f"v{version}.metadata.json"


def _number(location: str) -> int:
    found = _VERSION.fullmatch(location.rpartition("/")[2])
    return int(found[1]) if found else 0
