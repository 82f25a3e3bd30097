"""A whole server in memory whose clients are whoever a test says, as if they had logged in."""

from __future__ import annotations

from simulated_loop import SimulatedLoop
from simulated_server import SimulatedClient, SimulatedServer
from wire_client import WireCluster
from wire_tables import WireTable, create_database

from lakeward.model.acl import ANY_NAME, Acl, AclFilter, Operation, Resource
from lakeward.model.principal import Principal
from lakeward.protocol.acl_forms import acl_message, acl_of, filter_message
from lakeward.protocol.api import Api
from lakeward.protocol.messages.acl import (
    CreateAclsRequest,
    CreateAclsResponse,
    DropAclsRequest,
    DropAclsResponse,
    ListAclsRequest,
)
from lakeward.runtime.clock import ManualClock
from lakeward.runtime.files.memory_files import MemoryFiles
from lakeward.server.node import Node

ADMIN = Principal("admin")
ALICE = Principal("alice")
#: What `MemoryTransport` says where clients are.
HOST = "127.0.0.1"
_ANY = AclFilter()
SHOP = Resource.database("shop")
ORDERS = Resource.table("shop", "orders")
OPTIONS = {"authorizer.enabled": "true", "super.users": f"{ADMIN}"}


class PrincipalClient(SimulatedClient):
    """A connection of somebody."""

    def __init__(self, loop: SimulatedLoop, node: Node, principal: Principal) -> None:
        super().__init__(loop, node)
        self.is_now(principal)

    def is_now(self, principal: Principal) -> None:
        """Somebody else has logged in on this connection."""
        self._protocol.principal = principal


class PrincipalWorld:
    """A server with the tables `shop.orders` (a log), `shop.prices` (by key) and `other.notes`."""

    def __init__(self, files: MemoryFiles | None = None, clock: ManualClock | None = None, **options: str) -> None:
        self.clock = clock or ManualClock()
        self.files = files or MemoryFiles(self.clock.now_ms)
        self.server = SimulatedServer(self.files, self.clock, 1, **{**OPTIONS, **options})
        self.admin = self.client(ADMIN)
        self.alice = self.client(ALICE)

    def client(self, principal: Principal) -> PrincipalClient:
        """One more connection."""
        return PrincipalClient(self.server.loop, self.server.node, principal)

    def fill(self) -> None:
        """Make the tables."""
        cluster = WireCluster(self.admin, self.admin)
        for database in ("shop", "other"):
            create_database(cluster, database)
        WireTable.create(cluster, "shop", "orders")
        WireTable.create(cluster, "other", "notes")
        WireTable.create(cluster, "shop", "prices", primary_key=("id",))

    def stop(self) -> None:
        """The end, in good order."""
        self.server.stop()

    # -- grants, as the super user gives them

    def grant(self, *acls: Acl) -> CreateAclsResponse:
        """Give rights."""
        answer: CreateAclsResponse = self.admin.call(Api.CREATE_ACLS, creation(*acls))
        assert [one.error_code for one in answer.acl_res] == [0] * len(acls), answer
        return answer

    def allow(
        self, operation: Operation, resource: Resource, principal: Principal = ALICE, host: str = ANY_NAME
    ) -> None:
        """Give one right."""
        self.grant(Acl(resource, principal, operation, host))

    def revoke_all(self) -> None:
        """Take back all rights there are."""
        self.admin.call(Api.DROP_ACLS, dropping(AclFilter()))

    def acls(self, client: PrincipalClient | None = None, wanted: AclFilter = _ANY) -> list[Acl]:
        """The rights somebody sees."""
        answer = (client or self.admin).call(Api.LIST_ACLS, ListAclsRequest(acl_filter=filter_message(wanted)))
        return [acl_of(one) for one in answer.acl]


def creation(*acls: Acl) -> CreateAclsRequest:
    """A request to give rights."""
    return CreateAclsRequest(acl=tuple(map(acl_message, acls)))


def dropping(*filters: AclFilter) -> DropAclsRequest:
    """A request to take rights back."""
    return DropAclsRequest(acl_filter=tuple(map(filter_message, filters)))


def dropped(answer: DropAclsResponse) -> list[list[Acl]]:
    """What each filter took away."""
    return [[acl_of(one.acl) for one in result.matching_acls] for result in answer.filter_results]
