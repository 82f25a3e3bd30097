"""A catalog, its buckets and their logs, in memory and without a server."""

from __future__ import annotations

from pathlib import Path

from wire_tables import ID, table_json

from lakeward.model.bucket import TableBucket
from lakeward.model.json_form import DatabaseDescriptor, parse_descriptor
from lakeward.model.table import TableInfo, TablePath
from lakeward.runtime.files.memory_files import MemoryFiles
from lakeward.server.buckets.buckets import Buckets
from lakeward.server.buckets.logs import CopyProgress, Logs
from lakeward.server.catalog.catalog import Catalog
from lakeward.server.catalog.database import DatabaseInfo
from lakeward.server.metadata_store.memory_store import MemoryMetadataStore
from lakeward.storage.disk.directories import DataDirectory
from lakeward.storage.disk.open_files import OpenFiles
from lakeward.storage.log.settings import LogSettings

ROOT = Path("/data")


class BucketWorld:
    """What the roles share; slow work on disk is done at once."""

    def __init__(self, copied: CopyProgress | None = None) -> None:
        self.files = MemoryFiles()
        self.catalog = Catalog(MemoryMetadataStore())
        self.catalog.put_database(DatabaseInfo("db", DatabaseDescriptor(), 0, 0))
        self.settings = LogSettings(index_interval_bytes=64)
        self.buckets = Buckets(self.catalog, DataDirectory(self.files, ROOT), lambda job: job())
        self.logs = Logs(
            self.buckets,
            OpenFiles(self.files, 16),
            lambda job: job(),
            lambda _: self.settings,
            lambda _: None,
            copied,
        )

    def create(self, name: str = "t", **parts: object) -> TableInfo:
        """A table; `parts` as in its JSON."""
        return self.catalog.create_table(TablePath("db", name), parse_descriptor(table_json(ID, **parts)), 0)

    def bucket(self, name: str = "t", number: int = 0) -> TableBucket:
        """A bucket of a new table without partitions."""
        return TableBucket(self.create(name).table_id, None, number)
