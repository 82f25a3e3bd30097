"""Create, drop and list partitions."""

from __future__ import annotations

from collections.abc import Mapping

from lakeward.errors import ErrorCode
from lakeward.model.partition import HISTORICAL, SEPARATOR, check_values, qualified_name, values_of_spec
from lakeward.model.table import TableInfo, TablePath
from lakeward.options import server as server_options
from lakeward.options import table as table_options
from lakeward.runtime.clock import Clock
from lakeward.server.catalog.catalog import Catalog
from lakeward.server.catalog.partition import PartitionInfo
from lakeward.server.coordinator.tables import table_rules
from lakeward.server.coordinator.tables.auto_partition import AutoPartition
from lakeward.server.coordinator.tables.cluster_config import ClusterConfig
from lakeward.server.coordinator.tables.table_admin import TableAdmin


class PartitionAdmin:
    """What may be done to partitions."""

    def __init__(self, catalog: Catalog, tables: TableAdmin, config: ClusterConfig, clock: Clock) -> None:
        self._catalog = catalog
        self._tables = tables
        self._config = config
        self._clock = clock

    def partitioned_table(self, path: TablePath) -> TableInfo:
        """The table, which must be partitioned."""
        table = self._tables.get(path)
        if not table.descriptor.is_partitioned:
            raise ErrorCode.TABLE_NOT_PARTITIONED.error(f"Table '{path}' is not a partitioned table.")
        return table

    def create(self, path: TablePath, spec: Mapping[str, str], *, ignore_if_exists: bool) -> None:
        """A new partition."""
        table = self.partitioned_table(path)
        keys = table.descriptor.partition_keys
        values = values_of_spec(keys, spec, path)
        check_values(values, creating=True)
        self._check_time(table, values)
        name = SEPARATOR.join(values)
        if self._catalog.partition_by_name(table.table_id, name) is not None:
            if ignore_if_exists:
                return
            raise ErrorCode.PARTITION_ALREADY_EXISTS.error(
                f"Partition '{qualified_name(keys, values)}' already exists for table {path}"
            )
        table_rules.check_servers(table.descriptor.properties)
        self._check_room(table)
        self._catalog.create_partitions(table.table_id, [name], self._clock.now_ms())

    def drop(self, path: TablePath, spec: Mapping[str, str], *, ignore_if_not_exists: bool) -> None:
        """Remove a partition; its data goes soon after."""
        table = self.partitioned_table(path)
        keys = table.descriptor.partition_keys
        values = values_of_spec(keys, spec, path)
        check_values(values, creating=False)
        if HISTORICAL in values:
            raise ErrorCode.PARTITION_SPEC_INVALID.error(f"The partition '{HISTORICAL}' of {path} cannot be dropped.")
        partition = self._catalog.partition_by_name(table.table_id, SEPARATOR.join(values))
        if partition is not None:
            self._catalog.drop_partitions([partition])
        elif not ignore_if_not_exists:
            raise ErrorCode.PARTITION_NOT_EXISTS.error(
                f"Partition '{qualified_name(keys, values)}' does not exist for table {path}"
            )

    def list(self, path: TablePath, partial_spec: Mapping[str, str]) -> tuple[TableInfo, list[PartitionInfo]]:
        """The table and those of its partitions that have the given values."""
        table = self.partitioned_table(path)
        keys = table.descriptor.partition_keys
        for key in partial_spec:
            if key not in keys:
                raise ErrorCode.PARTITION_SPEC_INVALID.error(
                    f"table don't contains this partitionKey: {key}. The keys of table {path} are {', '.join(keys)}."
                )
        wanted = [(keys.index(key), value) for key, value in partial_spec.items()]
        return table, [
            partition
            for partition in self._catalog.partitions_of(table.table_id)
            if partition.name != HISTORICAL and all(partition.values[at] == value for at, value in wanted)
        ]

    def _check_time(self, table: TableInfo, values: tuple[str, ...]) -> None:
        properties = table.descriptor.properties
        if (
            not table_options.AUTO_PARTITION.read(properties)
            and table_options.AUTO_PARTITION_FORMAT.key not in properties
        ):
            return
        settings = AutoPartition.of(properties, self._clock.zone())
        position = settings.key_position(table.descriptor.partition_keys)
        settings.check_value(values[position], self._clock.now_ms())

    def _check_room(self, table: TableInfo) -> None:
        options = self._config.current
        partition_max = options.get(server_options.MAX_PARTITION_NUM)
        if len(self._catalog.partitions_of(table.table_id)) + 1 > partition_max:
            raise ErrorCode.PARTITION_MAX_NUM.error(
                f"Exceed the maximum number of partitions for table {table.path}, only allow {partition_max}"
                " partitions. Raise 'max.partition.num' or drop some."
            )
        bucket_max = options.get(server_options.MAX_BUCKET_NUM)
        if table.bucket_count > bucket_max:
            raise ErrorCode.BUCKET_MAX_NUM.error(
                f"A partition of {table.path} has {table.bucket_count} buckets,"
                f" more than {bucket_max} ('max.bucket.num')."
            )
