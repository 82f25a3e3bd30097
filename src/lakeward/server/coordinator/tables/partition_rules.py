"""What partition keys and automatic partitions a table may have."""

from __future__ import annotations

from datetime import tzinfo

from lakeward.errors import ErrorCode
from lakeward.model.data_types import NESTED, TypeRoot
from lakeward.model.table import TableDescriptor
from lakeward.options import table as table_options
from lakeward.server.coordinator.tables.auto_partition import AutoPartition
from lakeward.server.coordinator.tables.time_format import TimeUnit

_NOT_PARTITION_TYPES = NESTED | {TypeRoot.DECIMAL}
_DATE_PATTERN = "yyyy-MM-dd"
_invalid_table = ErrorCode.INVALID_TABLE.error
_invalid_config = ErrorCode.INVALID_CONFIG.error


def check_partitions(descriptor: TableDescriptor, zone: tzinfo) -> None:
    """Refuse partition keys that cannot be, and a calendar that does not fit them."""
    enabled = table_options.AUTO_PARTITION.read(descriptor.properties)
    if not descriptor.is_partitioned:
        if enabled:
            raise _invalid_config(
                "Currently, auto partition is only supported for partitioned table, please set table property"
                f" '{table_options.AUTO_PARTITION.key}' to false."
            )
        return
    if len(set(descriptor.partition_keys)) != len(descriptor.partition_keys):
        raise _invalid_table(f"A partition key is named twice: {', '.join(descriptor.partition_keys)}.")
    for key in descriptor.partition_keys:
        type_ = descriptor.schema.column(key).type
        if type_.root in _NOT_PARTITION_TYPES:
            raise _invalid_table(f"Partition key '{key}' cannot be of data type {type_}.")
    settings = AutoPartition.of(descriptor.properties, zone)
    if enabled:
        _check_auto_partition(descriptor, settings)


def _check_auto_partition(descriptor: TableDescriptor, settings: AutoPartition) -> None:
    keys = descriptor.partition_keys
    if len(keys) > 1:
        if settings.key is None:
            raise _invalid_table(
                "Currently, auto partitioned table must set one auto partition key when it has multiple partition keys."
                f" Please set table property '{table_options.AUTO_PARTITION_KEY.key}'."
            )
        if settings.precreate > 0 and settings.key in keys:
            raise _invalid_table(
                "For a partitioned table with multiple partition keys, auto pre-create is unsupported and this value"
                f" must be set to 0, but is {settings.precreate}"
            )
    if settings.key is not None and settings.key not in keys:
        raise _invalid_table(
            "The specified key for auto partitioned table is not a partition key."
            f" Your key '{settings.key}' is not in key list [{', '.join(keys)}]"
        )
    key = settings.key or keys[0]
    if descriptor.schema.column(key).type.root is not TypeRoot.DATE:
        return
    if settings.unit is not TimeUnit.DAY or settings.format.pattern != _DATE_PATTERN:
        raise _invalid_table(
            f"The auto partition key '{key}' is of type DATE: '{table_options.AUTO_PARTITION_UNIT.key}' must be DAY and"
            f" '{table_options.AUTO_PARTITION_FORMAT.key}' must be {_DATE_PATTERN}."
        )
