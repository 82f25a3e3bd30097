"""Acls: rights are given out, shown and taken back, on our server or Apache Fluss's."""

from __future__ import annotations

from collections.abc import Iterable

from lakeward.client.cluster.cluster import Cluster
from lakeward.client.cluster.loop_thread import LoopThread
from lakeward.errors import ErrorCode, LakewardError
from lakeward.model.acl import Acl, AclFilter
from lakeward.protocol.acl_forms import acl_message, acl_of, filter_message
from lakeward.protocol.api import Api
from lakeward.protocol.messages import acl as messages

_EVERY_ONE = AclFilter()


class AsyncAcls:
    """The grants of a cluster, as far as whoever asks may know of them."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster

    async def find(self, wanted: AclFilter = _EVERY_ONE) -> list[Acl]:
        """The grants that a filter means, in order; by default all of them."""
        ask = messages.ListAclsRequest(acl_filter=filter_message(wanted))
        answer = await self._cluster.ask(Api.LIST_ACLS, ask)
        return sorted(map(acl_of, answer.acl), key=_order)

    async def grant(self, acls: Iterable[Acl]) -> None:
        """Give rights; one that is there already is fine. The first that is refused is raised."""
        ask = messages.CreateAclsRequest(acl=tuple(map(acl_message, acls)))
        answer = await self._cluster.ask(Api.CREATE_ACLS, ask)
        for one in answer.acl_res:
            _check(one.error_code, one.error_message)

    async def revoke(self, wanted: Iterable[AclFilter]) -> list[Acl]:
        """Take back what some filters mean; what was there and is gone."""
        ask = messages.DropAclsRequest(acl_filter=tuple(map(filter_message, wanted)))
        answer = await self._cluster.ask(Api.DROP_ACLS, ask)
        gone = []
        for result in answer.filter_results:
            _check(result.error_code, result.error_message)
            for one in result.matching_acls:
                _check(one.error_code, one.error_message)
                gone.append(acl_of(one.acl))
        return sorted(gone, key=_order)


class Acls:
    """The same for blocking code."""

    def __init__(self, loop: LoopThread, inner: AsyncAcls) -> None:
        self._loop = loop
        self._inner = inner

    def find(self, wanted: AclFilter = _EVERY_ONE) -> list[Acl]:
        """The grants that a filter means, in order; by default all of them."""
        return self._loop.run(self._inner.find(wanted))

    def grant(self, acls: Iterable[Acl]) -> None:
        """Give rights; one that is there already is fine. The first that is refused is raised."""
        self._loop.run(self._inner.grant(acls))

    def revoke(self, wanted: Iterable[AclFilter]) -> list[Acl]:
        """Take back what some filters mean; what was there and is gone."""
        return self._loop.run(self._inner.revoke(wanted))


def _check(code: int | None, message: str | None) -> None:
    if code:
        wrong: LakewardError = ErrorCode.of_wire(code).error(message)
        raise wrong


def _order(acl: Acl) -> tuple[int, str, str, str, int]:
    return acl.resource.type, acl.resource.name, str(acl.principal), acl.host, acl.operation
