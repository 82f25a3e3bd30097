"""AutoPartitioner: applies the calendar to the catalog when a table is made or changed, and at every check."""

from __future__ import annotations

import logging

from lakeward.errors import LakewardError
from lakeward.model.table import TableInfo
from lakeward.options import server as server_options
from lakeward.options import table as table_options
from lakeward.options.server_options import ServerOptions
from lakeward.runtime.clock import Clock
from lakeward.server.catalog.catalog import Catalog
from lakeward.server.catalog.partition import PartitionInfo
from lakeward.server.coordinator.tables import table_rules
from lakeward.server.coordinator.tables.auto_partition import AutoPartition

_log = logging.getLogger(__name__)


class AutoPartitioner:
    """Keeps the partitions of every auto-partitioned table where the calendar says."""

    def __init__(self, catalog: Catalog, options: ServerOptions, clock: Clock) -> None:
        self._catalog = catalog
        self._partition_limit = options.get(server_options.MAX_PARTITION_NUM)
        self._clock = clock

    def tick(self) -> None:
        """Bring every table up to date."""
        for table in self._catalog.tables():
            self.apply(table)

    def apply(self, table: TableInfo) -> None:
        """Bring one table up to date; what fails is logged and tried again at the next check."""
        try:
            self._apply(table)
        except LakewardError:
            _log.exception("table %s: its partitions could not be brought up to date", table.path)

    def _apply(self, table: TableInfo) -> None:
        descriptor = table.descriptor
        if not descriptor.is_partitioned or not table_options.AUTO_PARTITION.read(descriptor.properties):
            return
        settings = AutoPartition.of(descriptor.properties, self._clock.zone())
        now_ms = self._clock.now_ms()
        expired = self._expired_partitions(table, settings, self._clock.settled_ms())
        if expired:
            self._catalog.drop_partitions(expired)
            _log.info("table %s: partitions %s have expired", table.path, ", ".join(p.name for p in expired))
        if len(descriptor.partition_keys) == 1:
            self._create_ahead(table, settings, now_ms)

    def _expired_partitions(self, table: TableInfo, settings: AutoPartition, now_ms: int) -> list[PartitionInfo]:
        position = settings.key_position(table.descriptor.partition_keys)
        partitions = self._catalog.partitions_of(table.table_id)
        gone = set(settings.expired_periods((p.values[position] for p in partitions), now_ms))
        return [p for p in partitions if p.values[position] in gone]

    def _create_ahead(self, table: TableInfo, settings: AutoPartition, now_ms: int) -> None:
        try:
            table_rules.check_servers(table.descriptor.properties)
        except LakewardError as wrong:
            _log.warning("table %s: no partitions are created: %s", table.path, wrong)
            return
        there = {p.name for p in self._catalog.partitions_of(table.table_id)}
        missing = [v for v in settings.values_ahead(now_ms, self._partition_limit) if v not in there]
        room = self._partition_limit - len(there)
        if len(missing) > room:
            _log.warning(
                "table %s: partitions %s are not created, the limit of %d is reached",
                table.path,
                ", ".join(missing[max(room, 0) :]),
                self._partition_limit,
            )
            missing = missing[: max(room, 0)]
        if missing:
            self._catalog.create_partitions(table.table_id, missing, now_ms)
