"""Cluster options, server tags, rebalance."""

from __future__ import annotations

from lakeward.protocol.codec.declare import f, i32, i64, message
from lakeward.protocol.messages.shared import PbAlterConfig


@message
class DescribeClusterConfigsRequest:
    """DESCRIBE_CLUSTER_CONFIGS (1045), asked."""


@message
class PbDescribeConfig:
    config_key: str = f(1)
    config_value: str | None = f(2, default=None)
    config_source: str = f(3)


@message
class DescribeClusterConfigsResponse:
    """DESCRIBE_CLUSTER_CONFIGS (1045), answered."""

    configs: tuple[PbDescribeConfig, ...] = f(1, default=())


@message
class AlterClusterConfigsRequest:
    """ALTER_CLUSTER_CONFIGS (1046), asked."""

    alter_configs: tuple[PbAlterConfig, ...] = f(1, default=())


@message
class AlterClusterConfigsResponse:
    """ALTER_CLUSTER_CONFIGS (1046), answered."""


@message
class AddServerTagRequest:
    """ADD_SERVER_TAG (1047), asked."""

    server_ids: tuple[i32, ...] = f(1, default=(), packed=True)
    server_tag: i32 = f(2)


@message
class AddServerTagResponse:
    """ADD_SERVER_TAG (1047), answered."""


@message
class RemoveServerTagRequest:
    """REMOVE_SERVER_TAG (1048), asked."""

    server_ids: tuple[i32, ...] = f(1, default=(), packed=True)
    server_tag: i32 = f(2)


@message
class RemoveServerTagResponse:
    """REMOVE_SERVER_TAG (1048), answered."""


@message
class RebalanceRequest:
    """REBALANCE (1049), asked."""

    goals: tuple[i32, ...] = f(1, default=(), packed=True)


@message
class RebalanceResponse:
    """REBALANCE (1049), answered."""

    rebalance_id: str = f(1)


@message
class ListRebalanceProgressRequest:
    """LIST_REBALANCE_PROGRESS (1050), asked."""

    rebalance_id: str | None = f(1, default=None)


@message
class PbRebalancePlanForBucket:
    partition_id: i64 | None = f(1, default=None)
    bucket_id: i32 = f(2)
    original_leader: i32 | None = f(3, default=None)
    new_leader: i32 | None = f(4, default=None)
    original_replicas: tuple[i32, ...] = f(5, default=(), packed=True)
    new_replicas: tuple[i32, ...] = f(6, default=(), packed=True)


@message
class PbRebalanceProgressForBucket:
    rebalance_plan: PbRebalancePlanForBucket = f(1)
    rebalance_status: i32 = f(2)


@message
class PbRebalanceProgressForTable:
    table_id: i64 = f(1)
    buckets_progress: tuple[PbRebalanceProgressForBucket, ...] = f(2, default=())


@message
class ListRebalanceProgressResponse:
    """LIST_REBALANCE_PROGRESS (1050), answered."""

    rebalance_id: str | None = f(1, default=None)
    rebalance_status: i32 | None = f(2, default=None)
    table_progress: tuple[PbRebalanceProgressForTable, ...] = f(3, default=())


@message
class CancelRebalanceRequest:
    """CANCEL_REBALANCE (1051), asked."""

    rebalance_id: str | None = f(1, default=None)


@message
class CancelRebalanceResponse:
    """CANCEL_REBALANCE (1051), answered."""
