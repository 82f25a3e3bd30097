"""Authorizer: may this client do that? Decisions are remembered by connection, until a grant changes."""

from __future__ import annotations

from collections.abc import Callable, Collection
from weakref import ref

from lakeward.errors import ErrorCode, LakewardError
from lakeward.model.acl import CLUSTER, Operation, Resource
from lakeward.model.principal import Principal
from lakeward.rpc.server_connection import ServerConnection
from lakeward.server.grants.acls.acl_book import AclBook
from lakeward.server.grants.acls.thing import Thing

_ASKER = "grants"
_REMEMBERED_MAX = 4096

#: Hears of every refusal: who, what for, and of what.
Refused = Callable[["Asker", Operation, str], None]


class Authorizer:
    """Super users may do everything; all others what was granted to them."""

    def __init__(self, book: AclBook, super_users: Collection[Principal], on_refusal: Refused) -> None:
        self.book = book
        self.super_users = super_users
        self._on_refusal = on_refusal

    def asker(self, connection: ServerConnection) -> Asker:
        """Who is at the other end of a connection, and what is known of their rights."""
        asker = connection.state.get(_ASKER)
        if (
            not isinstance(asker, Asker)
            or asker.principal is not connection.principal
            or asker.version != self.book.version
        ):
            asker = connection.state[_ASKER] = Asker(self, connection)
        return asker

    def is_super(self, principal: Principal) -> bool:
        """Whether somebody needs no grant."""
        return any(self.book.index.same(principal, one) for one in self.super_users)

    @property
    def can_be_opened(self) -> bool:
        """Whether there is anybody who may grant something."""
        return bool(self.super_users) or any(acl.operation is Operation.ALL for acl in self.book.index.of(CLUSTER))

    def note_refusal(self, asker: Asker, operation: Operation, what: str) -> None:
        """Let it be known that somebody was refused."""
        self._on_refusal(asker, operation, what)


class Asker:
    """One client, as long as neither their name nor any grant changes."""

    __slots__ = (
        "_authorizer", "_connection", "_decided", "_is_super", "_somewhere", "host", "peer", "principal", "version"
    )  # fmt: skip

    def __init__(self, authorizer: Authorizer, connection: ServerConnection) -> None:
        self._authorizer = authorizer
        self._connection = ref(connection)  # which keeps this
        self._is_super = connection.is_internal or authorizer.is_super(connection.principal)
        self._decided: dict[tuple[Operation, Resource], bool] = {}
        self._somewhere: dict[Operation, bool] = {}
        self.principal = connection.principal
        self.peer = connection.peer
        self.host = connection.address
        self.version = authorizer.book.version

    @property
    def connection(self) -> ServerConnection | None:
        """Where they are, unless they have gone."""
        return self._connection()

    def may(self, operation: Operation, resource: Resource) -> bool:
        """Whether they may do something to a resource."""
        if self._is_super:
            return True
        key = (operation, resource)
        decided = self._decided.get(key)
        if decided is None:
            if len(self._decided) >= _REMEMBERED_MAX:
                self._decided.clear()
            decided = self._authorizer.book.index.allows(self.principal, self.host, operation, resource)
            self._decided[key] = decided
        return decided

    def may_somewhere(self, operation: Operation) -> bool:
        """Whether there is anything they may do that to."""
        if operation not in self._somewhere:
            found = self._authorizer.book.index.allows_somewhere(self.principal, self.host, operation)
            self._somewhere[operation] = self._is_super or found
        return self._somewhere[operation]

    def check(self, operation: Operation, thing: Thing) -> None:
        """Refuse what they may not."""
        if not self.may(operation, thing.resource):
            raise self.refusal(operation, thing.called)

    def refusal(self, operation: Operation, what: str) -> LakewardError:
        """The error for something they may not do, which is on the record."""
        self._authorizer.note_refusal(self, operation, what)
        return ErrorCode.AUTHORIZATION.error(
            f"{self.principal!s:.300} may not {operation.name} {what:.500}; who has ALL on it can grant that."
        )
