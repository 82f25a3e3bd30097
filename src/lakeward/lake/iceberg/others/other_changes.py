"""OtherChanges: tables of others are created and changed, by requirements and updates of Iceberg's REST protocol."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from threading import Lock
from typing import Any

from pydantic import TypeAdapter
from pyiceberg.catalog.rest import CreateTableRequest
from pyiceberg.partitioning import UNPARTITIONED_PARTITION_SPEC
from pyiceberg.table import CommitTableRequest, Table
from pyiceberg.table.metadata import TableMetadata
from pyiceberg.table.sorting import UNSORTED_SORT_ORDER
from pyiceberg.table.update import AssertCreate

from lakeward.lake.iceberg.bucket_catalog import BucketCatalog
from lakeward.lake.iceberg.others.last_added import with_last_added
from lakeward.lake.iceberg.others.other_errors import OtherError, Trouble, read_plainly, told_plainly
from lakeward.lake.iceberg.others.other_tables import OtherTable, OtherTables, is_below, is_tiered
from lakeward.lake.iceberg.read.lake_files import is_local, local_path
from lakeward.runtime.entropy import Entropy

_CREATE = TypeAdapter(CreateTableRequest)
_COMMIT = TypeAdapter(CommitTableRequest)
_OPTIONAL = {"location": None, "partition-spec": None, "write-order": None}
#: Files of metadata are written by this process: below the table's own location, and nowhere else.
_METADATA_PATH = "write.metadata.path"
_FOLDER_MAX = 60


class OtherChanges:
    """Changes of one lake; one at a time in this process, and of other processes the lake takes one at a time."""

    def __init__(self, tables: OtherTables, entropy: Entropy) -> None:
        self._tables = tables
        self._catalog = tables.catalog
        self._entropy = entropy
        self._changing = Lock()

    def create(self, namespace: str, request: Mapping[str, Any]) -> OtherTable:
        """Make a table, or, staged, say only what it would be."""
        with told_plainly():
            with read_plainly():
                asked = _CREATE.validate_python({**_OPTIONAL, **request})
            name = (namespace, asked.name)
            if self._catalog.table_exists(name):
                raise OtherError(Trouble.EXISTS, f"Table already exists: {namespace}.{asked.name}")
            given: dict[str, Any] = {
                "schema": asked.table_schema,
                "location": self._new_location(namespace, asked),
                "partition_spec": asked.partition_spec or UNPARTITIONED_PARTITION_SPEC,
                "sort_order": asked.write_order or UNSORTED_SORT_ORDER,
                "properties": asked.properties,
            }
            staged = self._catalog._create_staged_table(name, **given)
            self._check_places(namespace, asked.name, staged.metadata, None)
            _make_folders(staged.metadata.location)
            if asked.stage_create:
                return OtherTable.of(staged.metadata, None)
            with self._changing:
                made = self._catalog.create_table(name, **given)
            return OtherTable.of(made.metadata, made.metadata_location)

    def commit(self, namespace: str, name: str, request: Mapping[str, Any]) -> OtherTable:
        """Change a table, if it is what the requirements say; create it, if they say that it must not be there."""
        with told_plainly(), self._changing:
            asked = self._parse_request(namespace, name, request)
            current = self._check(namespace, name, asked)
            table = current or Table((namespace, name), None, "", None, self._catalog)  # type: ignore[arg-type]
            done = self._catalog.commit_table(table, asked.requirements, asked.updates)
            return OtherTable.of(done.metadata, done.metadata_location)

    def commit_all(self, changes: Sequence[tuple[str, str, Mapping[str, Any]]]) -> None:
        """Several tables: the lake changes one at a time, so more than one are refused."""
        if len(changes) != 1:
            raise OtherError(Trouble.NOT_DONE, "Changes of several tables in one transaction are not done here.")
        self.commit(*changes[0])

    def _parse_request(self, namespace: str, name: str, request: Mapping[str, Any]) -> CommitTableRequest:
        identifier = {"namespace": [namespace], "name": name}
        text = json.dumps({**with_last_added(request), "identifier": identifier})
        with read_plainly():
            return _COMMIT.validate_json(text)

    def _check(self, namespace: str, name: str, asked: CommitTableRequest) -> Table | None:
        """Refuse what cannot be, before anything is written; the table as it is."""
        creates = any(isinstance(one, AssertCreate) for one in asked.requirements)
        current = None
        if not creates or self._catalog.table_exists((namespace, name)):
            current = self._tables.find(namespace, name)
        staged = self._catalog._update_and_stage_table(current, (namespace, name), asked.requirements, asked.updates)
        self._check_places(namespace, name, staged.metadata, None if current is None else current.metadata)
        return current

    # -- where a table lies -------------------------------------------------------------------------------------------

    def _new_location(self, namespace: str, asked: CreateTableRequest) -> str:
        if asked.location is not None:
            return asked.location.rstrip("/")
        folder = self._tables.folder(namespace)
        if isinstance(self._catalog, BucketCatalog):
            return f"{folder}/{asked.name}"  # the folder is the table's name there
        # A table of the same name may have been renamed and still lie in a folder of that name.
        return f"{folder}/{_folder_name(asked.name)}-{str(self._entropy.uuid())[:8]}"

    def _check_places(self, namespace: str, name: str, new: TableMetadata, old: TableMetadata | None) -> None:
        """Refuse a table in the folder of another; and that it is made to look like one that a cluster writes."""
        if is_tiered(new):
            raise OtherError(Trouble.WRONG, f"{namespace}.{name} would look like a table that a cluster has tiered.")
        location = new.location
        if old is not None and location == old.location:
            pass
        elif old is not None:
            raise OtherError(Trouble.WRONG, f"{namespace}.{name} stays where it is, in {old.location}.")
        elif not self._is_own_folder(namespace, name, location):
            raise OtherError(
                Trouble.WRONG,
                f"{namespace}.{name} cannot lie in {location}: leave the location out, and one is chosen in "
                f"{self._tables.folder(namespace)}.",
            )
        path = new.properties.get(_METADATA_PATH)
        if path is not None and not is_below(path, location):
            raise OtherError(Trouble.WRONG, f"{_METADATA_PATH} must be below {location}.")

    def _is_own_folder(self, namespace: str, name: str, location: str) -> bool:
        """Whether a table may lie there: `<name>-<ending>`, as Trino chooses and we do, or, in a bucket, its name."""
        above = self._tables.folder(namespace)
        if not is_below(location, above):
            return False
        folder = location.removeprefix(f"{above}/")
        if isinstance(self._catalog, BucketCatalog) and folder == name:
            return True
        own, _, ending = folder.rpartition("-")
        fits = own in (name, _folder_name(name)) and ending and "/" not in folder
        return bool(fits) and not self._catalog.table_exists((namespace, folder))


def _make_folders(location: str) -> None:
    """On a disk, writers expect folders to be there: DuckDB does."""
    if is_local(location):
        for folder in ("metadata", "data"):
            (local_path(location) / folder).mkdir(parents=True, exist_ok=True)


def _folder_name(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9_]", "_", name)[:_FOLDER_MAX]
