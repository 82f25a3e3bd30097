"""AclIndex: the entries there are, found by resource and principal. Decides; keeps nothing on disk and asks nobody."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from functools import lru_cache
from ipaddress import ip_address

from lakeward.model.acl import ANY_NAME, EVERYBODY, Acl, AclFilter, Operation, Permission, Resource
from lakeward.model.principal import Principal

#: Whoever may do one of these may know that the thing is there, and what it looks like.
_TELLS = frozenset(
    {Operation.DESCRIBE, Operation.READ, Operation.WRITE, Operation.CREATE, Operation.DROP, Operation.ALTER}
)
_Key = tuple[str, str]


class AclIndex:
    """Entries by resource, then by principal: a decision costs the same however many there are."""

    def __init__(self, acls: Iterable[Acl] = (), *, ignore_case: bool = False) -> None:
        self._ignore_case = ignore_case
        self._everybody = self._key(EVERYBODY)
        self._by_resource: dict[Resource, dict[_Key, set[Acl]]] = {}
        self._count = 0
        for acl in acls:
            self.add(acl)

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[Acl]:
        for resource in self._by_resource:
            yield from self.of(resource)

    def __contains__(self, acl: Acl) -> bool:
        return acl in self._by_resource.get(acl.resource, {}).get(self._key(acl.principal), ())

    def of(self, resource: Resource) -> Iterator[Acl]:
        """The entries of one resource."""
        for acls in self._by_resource.get(resource, {}).values():
            yield from acls

    def add(self, acl: Acl) -> None:
        """Take an entry in; one that is there is fine."""
        if acl not in self:
            self._by_resource.setdefault(acl.resource, {}).setdefault(self._key(acl.principal), set()).add(acl)
            self._count += 1

    def remove(self, acl: Acl) -> None:
        """Take an entry out; one that is not there is fine."""
        if acl not in self:
            return
        by_principal = self._by_resource[acl.resource]
        key = self._key(acl.principal)
        by_principal[key].remove(acl)
        self._count -= 1
        if not by_principal[key]:
            del by_principal[key]
        if not by_principal:
            del self._by_resource[acl.resource]

    def candidates(self, wanted: AclFilter) -> list[Acl]:
        """The entries that a filter may mean: those of its resource, or all."""
        resource = wanted.resource
        return list(self) if resource is None else list(self.of(resource))

    def allows(self, principal: Principal, host: str, operation: Operation, resource: Resource) -> bool:
        """Whether somebody at an address may do something to a resource. No entry means no."""
        enough = _enough_for(operation)
        return any(
            acl.operation in enough and acl.permission is Permission.ALLOW and _is_from(acl, host)
            for covering in resource.covered_by
            for acl in self._of_principal(covering, principal)
        )

    def allows_somewhere(self, principal: Principal, host: str, operation: Operation) -> bool:
        """Whether there is any resource to which somebody may do this."""
        enough = _enough_for(operation)
        return any(
            acl.operation in enough and acl.permission is Permission.ALLOW and _is_from(acl, host)
            for resource in self._by_resource
            for acl in self._of_principal(resource, principal)
        )

    def same(self, one: Principal, other: Principal) -> bool:
        """Whether two names mean the same principal."""
        return self._key(one) == self._key(other)

    def _of_principal(self, resource: Resource, principal: Principal) -> Iterator[Acl]:
        by_principal = self._by_resource.get(resource)
        if by_principal is not None:
            for key in {self._key(principal), self._everybody}:
                yield from by_principal.get(key, ())

    def _key(self, principal: Principal) -> _Key:
        # Small letters only, as Java compares: casefold would take ß and ss for the same.
        name, kind = principal.name, principal.type
        return (name.lower(), kind.lower()) if self._ignore_case else (name, kind)


def _enough_for(operation: Operation) -> Collection[Operation]:
    return {Operation.ALL, *(_TELLS if operation is Operation.DESCRIBE else (operation,))}


def _is_from(acl: Acl, host: str) -> bool:
    return acl.host in {ANY_NAME, host} or _address(acl.host) == _address(host)


@lru_cache(1024)
def _address(host: str) -> str:
    """An address in one form: `0:0:0:0:0:0:0:1`, as Java writes it, is `::1`."""
    try:
        return str(ip_address(host))
    except ValueError:
        return host
