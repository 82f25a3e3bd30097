"""TableAccess: the parts of a connection that staged writes work with."""

from __future__ import annotations

from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from lakeward.client.admin.admin import path_of, table_info
from lakeward.client.admin.offsets import TableOffsets
from lakeward.client.admin.partitions import Partitions
from lakeward.client.blocking.sync import Connection
from lakeward.client.cluster.cluster import Cluster
from lakeward.client.cluster.writer_ids import WriterIds
from lakeward.client.keys.conventions import Bucketing, declared_bucketing
from lakeward.errors import ErrorCode
from lakeward.model.table import TableInfo, TablePath
from lakeward.options.table import LOG_COMPACTION

T = TypeVar("T")
_ACKS_OF_ALL = -1


class TableAccess:
    """One table as it is now, and the ways to it."""

    def __init__(self, conn: Connection, path: str | TablePath) -> None:
        self._loop = conn._loop
        self.cluster: Cluster = conn._inner._cluster
        if self.cluster.settings.acks != _ACKS_OF_ALL:
            raise ErrorCode.INVALID_CONFIG.error(
                "Exactly-once writes need client.writer.acks=all, which is the default; leave the option out."
            )
        self.path = path_of(path)
        self.ids = WriterIds(self.cluster)
        self.refresh()

    def refresh(self) -> None:
        """Ask again what the table looks like."""
        self.info: TableInfo = self.run(table_info(self.cluster, self.path))
        self.partitions = Partitions(self.cluster, self.info)
        self.offsets = TableOffsets(self.cluster, self.info, self.partitions)

    @property
    def workers(self) -> ThreadPoolExecutor:
        """Threads for what leaves the interpreter lock."""
        return self.cluster.workers

    @property
    def directory_name(self) -> str:
        """What the table's files are kept under; a table that is created again is another one."""
        return f"{self.path}-{self.info.table_id}"

    @property
    def is_compacted(self) -> bool:
        """Whether the server may rewrite the changelog, and so forget who wrote what."""
        return bool(LOG_COMPACTION.read(self.info.descriptor.properties))

    @property
    def bucketing(self) -> Bucketing:
        """Whose way of bucketing a log table follows."""
        return declared_bucketing(self.info.descriptor.custom_properties) or Bucketing.JAVA

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine on the connection's loop and wait for it."""
        return self._loop.run(work)
