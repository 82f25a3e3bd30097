"""Handlers for cluster options and grants."""

from __future__ import annotations

from typing import NoReturn

from lakeward.errors import ErrorCode
from lakeward.protocol.api import Api
from lakeward.protocol.messages import cluster as messages
from lakeward.server.coordinator.coordinator import Coordinator
from lakeward.server.coordinator.handlers.caller import Caller
from lakeward.server.coordinator.handlers.handler import Handlers
from lakeward.server.coordinator.tables.alteration import alterations_of


class ClusterHandlers:
    """Options of the cluster; and grants, which there are none of yet."""

    def __init__(self, coordinator: Coordinator) -> None:
        self._config = coordinator.config

    def handlers(self) -> Handlers:
        """The functions by API."""
        return {
            Api.DESCRIBE_CLUSTER_CONFIGS: self.describe,
            Api.ALTER_CLUSTER_CONFIGS: self.alter,
            Api.CREATE_ACLS: self.no_security,
            Api.LIST_ACLS: self.no_security,
            Api.DROP_ACLS: self.no_security,
        }

    def describe(
        self, _: messages.DescribeClusterConfigsRequest, __: Caller
    ) -> messages.DescribeClusterConfigsResponse:
        """DESCRIBE_CLUSTER_CONFIGS: every setting that is not a default; secrets hidden."""
        return messages.DescribeClusterConfigsResponse(
            configs=tuple(
                messages.PbDescribeConfig(config_key=c.key, config_value=c.value, config_source=c.source)
                for c in self._config.describe()
            )
        )

    def alter(self, request: messages.AlterClusterConfigsRequest, _: Caller) -> messages.AlterClusterConfigsResponse:
        """ALTER_CLUSTER_CONFIGS: all changes or none."""
        self._config.alter(alterations_of(request.alter_configs))
        return messages.AlterClusterConfigsResponse()

    def no_security(self, _: object, __: Caller) -> NoReturn:
        """CREATE_ACLS, LIST_ACLS and DROP_ACLS of a server without an authorizer."""
        raise ErrorCode.SECURITY_DISABLED.error("No authorizer is configured on this cluster.")
