"""Create, alter and drop tables."""

from __future__ import annotations

from collections.abc import Sequence

from lakeward.errors import ErrorCode
from lakeward.model import json_form
from lakeward.model.schema import Column
from lakeward.model.table import TableDescriptor, TableInfo, TablePath
from lakeward.options import server as server_options
from lakeward.runtime.clock import Clock
from lakeward.server.catalog.catalog import Catalog
from lakeward.server.catalog.lake_settings import may_be_tiered
from lakeward.server.coordinator.tables import table_changes, table_rules
from lakeward.server.coordinator.tables.alteration import Alteration
from lakeward.server.coordinator.tables.auto_partitioner import AutoPartitioner
from lakeward.server.coordinator.tables.cluster_config import ClusterConfig
from lakeward.server.coordinator.tables.table_defaults import with_canonical_names, with_defaults

TABLE_JSON_BYTES_MAX = 8 * 1024 * 1024


class TableAdmin:
    """What may be done to tables."""

    def __init__(self, catalog: Catalog, config: ClusterConfig, partitioner: AutoPartitioner, clock: Clock) -> None:
        self._catalog = catalog
        self._config = config
        self._partitioner = partitioner
        self._clock = clock

    def get(self, path: TablePath) -> TableInfo:
        """The table, or TABLE_NOT_EXIST."""
        table = self._catalog.table_by_path(path)
        if table is None:
            raise ErrorCode.TABLE_NOT_EXIST.error(f"Table '{path!s:.400}' does not exist.")
        return table

    def create(self, path: TablePath, table_json: bytes, *, ignore_if_exists: bool) -> None:
        """A new table, defaults filled in, and the first partitions of an auto-partitioned one."""
        path.check()
        if len(table_json) > TABLE_JSON_BYTES_MAX:
            raise ErrorCode.INVALID_TABLE.error(
                f"The descriptor of {path} has {len(table_json)} bytes, more than the limit of {TABLE_JSON_BYTES_MAX}."
            )
        options = self._config.current
        descriptor = json_form.parse_descriptor(table_json)
        self._check_kind_allowed(path, descriptor)
        descriptor = with_defaults(with_canonical_names(descriptor), options)
        self._check(descriptor)
        if not descriptor.is_partitioned:
            table_rules.check_servers(descriptor.properties)
        exists = self._catalog.table_by_path(path) is not None
        if exists and ignore_if_exists:
            return
        if self._catalog.database(path.database) is None:
            raise ErrorCode.DATABASE_NOT_EXIST.error(f"Database {path.database} does not exist.")
        if exists:
            raise ErrorCode.TABLE_ALREADY_EXIST.error(f"Table {path} already exists.")
        table = self._catalog.create_table(path, descriptor, self._clock.now_ms())
        self._partitioner.apply(table)

    def alter_properties(self, path: TablePath, alterations: Sequence[Alteration]) -> None:
        """Set or reset properties; nothing is written when nothing changes."""
        table = self.get(path)
        options = self._config.current
        descriptor = table_changes.with_altered_properties(
            table, alterations, options.get(server_options.DATALAKE_FORMAT), may_be_tiered=may_be_tiered(options)
        )
        if descriptor == table.descriptor:
            return
        self._check(descriptor)
        self._partitioner.apply(self._catalog.alter_table(table.table_id, descriptor, self._clock.now_ms()))

    def add_columns(self, path: TablePath, columns: Sequence[Column]) -> None:
        """Columns at the end; old rows have NULL there."""
        table = self.get(path)
        descriptor = table_changes.with_added_columns(table, columns)
        self._catalog.alter_table(table.table_id, descriptor, self._clock.now_ms())

    def drop(self, path: TablePath, *, ignore_if_not_exists: bool) -> None:
        """Remove a table; its data goes soon after."""
        table = self._catalog.table_by_path(path)
        if table is None:
            if ignore_if_not_exists:
                return
            raise ErrorCode.TABLE_NOT_EXIST.error(f"Table {path!s:.400} does not exist.")
        self._catalog.drop_table(table.table_id)

    def _check(self, descriptor: TableDescriptor) -> None:
        options = self._config.current
        table_rules.check_table(
            descriptor,
            bucket_max=options.get(server_options.MAX_BUCKET_NUM),
            lake_format=options.get(server_options.DATALAKE_FORMAT),
            zone=self._clock.zone(),
        )

    def _check_kind_allowed(self, path: TablePath, descriptor: TableDescriptor) -> None:
        allowed = server_options.ALLOW_KV_TABLES if descriptor.has_primary_key else server_options.ALLOW_LOG_TABLES
        if not self._config.current.get(allowed):
            kind = "primary key" if descriptor.has_primary_key else "log"
            raise ErrorCode.INVALID_TABLE.error(
                f"Table {path} cannot be created: '{allowed.key}' is false, so this cluster takes no {kind} tables."
            )
