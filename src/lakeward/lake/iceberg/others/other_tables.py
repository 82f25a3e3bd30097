"""OtherTables: namespaces and tables of a lake that are not the cluster's, looked at and removed."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MethodType

from pyiceberg.catalog import Catalog, MetastoreCatalog
from pyiceberg.io import FileIO, load_file_io
from pyiceberg.table import Table
from pyiceberg.table.metadata import TableMetadata
from pyiceberg.typedef import Properties

from lakeward.errors import ErrorCode
from lakeward.lake.files.s3_path import S3Path, is_s3, lake_path
from lakeward.lake.files.s3_properties import store_settings
from lakeward.lake.iceberg.bucket_catalog import BucketCatalog
from lakeward.lake.iceberg.catalog import open_catalog
from lakeward.lake.iceberg.others.other_errors import OtherError, Trouble, told_plainly
from lakeward.lake.iceberg.read.lake_files import local_path
from lakeward.lake.rows.system_columns import SYSTEM_FIELDS

_TIERED = "fluss.table.datalake."


@dataclass(frozen=True, slots=True)
class OtherTable:
    """A table as it is answered; one that is not committed yet lies nowhere."""

    metadata_location: str | None
    metadata_json: str
    location: str

    @classmethod
    def of(cls, metadata: TableMetadata, metadata_location: str | None) -> OtherTable:
        """As pyiceberg has it."""
        return cls(metadata_location, metadata.model_dump_json(), metadata.location)


class OtherTables:
    """One lake; safe to be shared by threads. Tables that a cluster has tiered are refused, whoever's they are."""

    def __init__(self, lake: Mapping[str, str]) -> None:
        opened = open_catalog(lake)
        if not isinstance(opened, MetastoreCatalog):
            raise ErrorCode.INVALID_CONFIG.error(
                f"Tables of others are not kept here for a lake whose catalog is a {type(opened).__name__}: it has a "
                "server of its own, which they can be asked of. Leave --others out."
            )
        self.catalog: MetastoreCatalog = opened
        # What a table says of itself must not decide how this process reaches files, or which code it loads for it.
        self.catalog._load_file_io = MethodType(_own_io, self.catalog)  # type: ignore[method-assign]
        self.warehouse = str(self.catalog.properties.get("warehouse", "")).rstrip("/")

    # -- namespaces ---------------------------------------------------------------------------------------------------

    def namespaces(self) -> list[str]:
        """Those of one level."""
        with told_plainly():
            return sorted(name[0] for name in self.catalog.list_namespaces() if len(name) == 1)

    def namespace(self, name: str) -> dict[str, str]:
        """The properties of a namespace."""
        if name not in self.namespaces():
            raise OtherError(Trouble.NO_NAMESPACE, f"Namespace does not exist: {name}")
        with told_plainly():
            return {k: v for k, v in self.catalog.load_namespace_properties((name,)).items() if k != "exists"}

    def folder(self, name: str) -> str:
        """Where the tables of a namespace lie."""
        return f"{self.warehouse}/{name}"

    def create_namespace(self, name: str, properties: Mapping[str, str]) -> None:
        """Make one."""
        with told_plainly():
            if isinstance(self.catalog, BucketCatalog):
                self.catalog.make_namespace(name)
            else:
                self.catalog.create_namespace((name,), dict(properties))

    def drop_namespace(self, name: str) -> None:
        """Remove an empty one."""
        self.namespace(name)
        with told_plainly():
            if self.catalog.list_tables((name,)):
                raise OtherError(Trouble.NOT_EMPTY, f"Namespace {name} has tables.")
            self.catalog.drop_namespace((name,))

    def change_namespace(self, name: str, removals: Iterable[str], updates: Mapping[str, str]) -> dict[str, list[str]]:
        """Set and remove properties; which were."""
        self.namespace(name)
        with told_plainly():
            done = self.catalog.update_namespace_properties((name,), set(removals), dict(updates))
        return {"updated": done.updated, "removed": done.removed, "missing": done.missing}

    # -- tables -------------------------------------------------------------------------------------------------------

    def tables(self, namespace: str) -> list[str]:
        """Names of all tables of a namespace, tiered ones among them; none where there is no such namespace."""
        with told_plainly():
            known = self.catalog.list_tables((namespace,)) if namespace in self.namespaces() else []
        return sorted(name[-1] for name in known)

    def load(self, namespace: str, name: str) -> OtherTable:
        """A table."""
        found = self.find(namespace, name)
        return OtherTable.of(found.metadata, found.metadata_location)

    def find(self, namespace: str, name: str) -> Table:
        """A table as pyiceberg has it; refused where a cluster has tiered it."""
        with told_plainly():
            found = self.catalog.load_table((namespace, name))
        if is_tiered(found.metadata):
            why = "a cluster has tiered it, and this one does not have it"
            raise OtherError(Trouble.NO_TABLE, f"Table does not exist: {namespace}.{name} ({why})")
        return found

    def drop(self, namespace: str, name: str, *, purges: bool) -> None:
        """Forget a table; `purges`: with all that lies in its folder."""
        found = self.find(namespace, name)
        with told_plainly():
            self.catalog.drop_table((namespace, name))
        if purges and is_below(found.location(), self.folder(namespace)):
            self._remove_folder(found.location())

    def rename(self, old: tuple[str, str], new: tuple[str, str]) -> None:
        """Give a table another name; its files stay where they are."""
        self.find(*old)
        with told_plainly():
            self.catalog.rename_table(old, new)

    def _remove_folder(self, location: str) -> None:
        if not is_s3(location):
            shutil.rmtree(local_path(location), ignore_errors=True)
            return
        folder = lake_path(location, store_settings(self.catalog.properties))
        found = [path for path in folder.rglob("*") if isinstance(path, S3Path)]
        if found:
            found[0].store.delete([path.key for path in found])


def is_tiered(metadata: TableMetadata) -> bool:
    """Whether a cluster writes it, or did: who may read it is decided there."""
    columns = {field.name for field in metadata.schema().fields}
    return any(key.startswith(_TIERED) for key in metadata.properties) or {f.name for f in SYSTEM_FIELDS} <= columns


def is_below(location: str, folder: str) -> bool:
    """Whether a location lies in a folder, and nowhere else by another spelling."""
    return location.startswith(f"{folder}/") and not {"", ".", ".."} & set(
        location.removeprefix(f"{folder}/").split("/")
    )


def _own_io(catalog: Catalog, properties: Properties | None = None, location: str | None = None) -> FileIO:  # noqa: ARG001
    return load_file_io(catalog.properties, location)
