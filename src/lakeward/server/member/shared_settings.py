"""SharedSettings: options and grants that the coordinator keeps and every server obeys; asked for when they change."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from lakeward.model.acl import Acl, AclFilter
from lakeward.options.secrets import HIDDEN
from lakeward.protocol.acl_forms import acl_of, filter_message
from lakeward.protocol.api import Api
from lakeward.protocol.messages.acl import ListAclsRequest
from lakeward.protocol.messages.cluster import DescribeClusterConfigsRequest
from lakeward.server.member.coordinator import CoordinatorLink

_CHANGED_WHILE_RUNNING = "DYNAMIC_SERVER_CONFIG"


class SharedSettings:
    """What is learned goes to whoever obeys it."""

    def __init__(self, coordinator: CoordinatorLink, learn_options: Callable[[dict[str, str]], None]) -> None:
        self._coordinator = coordinator
        self._learn_options = learn_options
        self._learn_acls: Callable[[Iterable[Acl]], None] | None = None

    def follow_acls(self, learn: Callable[[Iterable[Acl]], None]) -> None:
        """Grants are checked here: they are asked for, too."""
        self._learn_acls = learn

    async def look(self) -> None:
        """Ask for all of them."""
        configs = (await self._coordinator.ask(Api.DESCRIBE_CLUSTER_CONFIGS, DescribeClusterConfigsRequest())).configs
        dynamic = (one for one in configs if one.config_source == _CHANGED_WHILE_RUNNING)
        self._learn_options({one.config_key: one.config_value or "" for one in dynamic if one.config_value != HIDDEN})
        if self._learn_acls is not None:
            asked = ListAclsRequest(acl_filter=filter_message(AclFilter()))
            answer = await self._coordinator.ask(Api.LIST_ACLS, asked)
            self._learn_acls([acl_of(one) for one in answer.acl])
