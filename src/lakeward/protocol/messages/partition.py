"""Create, drop and list partitions."""

from __future__ import annotations

from lakeward.protocol.codec.declare import f, i64, message
from lakeward.protocol.messages.shared import PbKeyValue, PbTablePath


@message
class PbPartitionSpec:
    partition_key_values: tuple[PbKeyValue, ...] = f(1, default=())


@message
class ListPartitionInfosRequest:
    """LIST_PARTITION_INFOS (1009), asked."""

    table_path: PbTablePath = f(1)
    partial_partition_spec: PbPartitionSpec | None = f(2, default=None)


@message
class PbPartitionInfo:
    partition_id: i64 = f(1)
    partition_spec: PbPartitionSpec = f(2)
    remote_data_dir: str | None = f(3, default=None)


@message
class ListPartitionInfosResponse:
    """LIST_PARTITION_INFOS (1009), answered."""

    partitions_info: tuple[PbPartitionInfo, ...] = f(1, default=())


@message
class CreatePartitionRequest:
    """CREATE_PARTITION (1036), asked."""

    table_path: PbTablePath = f(1)
    partition_spec: PbPartitionSpec = f(2)
    ignore_if_not_exists: bool = f(3)


@message
class CreatePartitionResponse:
    """CREATE_PARTITION (1036), answered."""


@message
class DropPartitionRequest:
    """DROP_PARTITION (1037), asked."""

    table_path: PbTablePath = f(1)
    partition_spec: PbPartitionSpec = f(2)
    ignore_if_not_exists: bool = f(3)


@message
class DropPartitionResponse:
    """DROP_PARTITION (1037), answered."""
