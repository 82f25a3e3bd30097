"""Acl: who may do what to which resource. Numbers are those of the wire.

    cluster          fluss-cluster
    └── database     shop           an entry holds for all that is below, too
        └── table    shop.orders

`*` as a name stands for every resource of that type, and for no other type. There is no entry that denies.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import NamedTuple

from lakeward.model.principal import Principal
from lakeward.model.table import TablePath

ANY_NAME = "*"
#: Whoever asks.
EVERYBODY = Principal(ANY_NAME, ANY_NAME)
_CLUSTER_NAME = "fluss-cluster"


class ResourceType(enum.IntEnum):
    """What a resource is; ANY is for filters."""

    ANY = 1
    CLUSTER = 2
    DATABASE = 3
    TABLE = 4


class Operation(enum.IntEnum):
    """What is done to it; ANY is for filters."""

    ANY = 1
    ALL = 2
    READ = 3
    WRITE = 4
    CREATE = 5
    DROP = 6
    ALTER = 7
    DESCRIBE = 8


class Permission(enum.IntEnum):
    """Whether it is allowed; ANY is for filters."""

    ANY = 1
    ALLOW = 2


class Resource(NamedTuple):
    """Something that may be read, written or changed."""

    type: ResourceType
    name: str

    def __str__(self) -> str:
        if self == CLUSTER:
            return "the cluster"
        return f"{'every ' if self.name == ANY_NAME else ''}{self.type.name.lower()} {self.name}".removesuffix(" *")

    @classmethod
    def database(cls, name: str) -> Resource:
        """A database."""
        return cls(ResourceType.DATABASE, name)

    @classmethod
    def table(cls, database: str, table: str) -> Resource:
        """A table."""
        return cls(ResourceType.TABLE, f"{database}.{table}")

    @classmethod
    def of_path(cls, path: TablePath) -> Resource:
        """A table by its path."""
        return cls.table(path.database, path.table)

    @property
    def owner(self) -> Resource:
        """Where rights are given out: a table's are its database's affair."""
        return self.database(self.name.partition(".")[0]) if self.type is ResourceType.TABLE else self

    @property
    def covered_by(self) -> tuple[Resource, ...]:
        """The resources whose entries hold for this one."""
        everyone = Resource(self.type, ANY_NAME)
        if self.type is ResourceType.TABLE:
            return (self, everyone, self.owner, CLUSTER)
        return (self, everyone, CLUSTER)


CLUSTER = Resource(ResourceType.CLUSTER, _CLUSTER_NAME)


@dataclass(frozen=True, slots=True)
class Acl:
    """One entry: somebody, from somewhere, may do something to a resource."""

    resource: Resource
    principal: Principal
    operation: Operation
    host: str = ANY_NAME
    permission: Permission = Permission.ALLOW

    def __str__(self) -> str:
        where = "" if self.host == ANY_NAME else f" from {self.host}"
        who = "everybody" if self.principal == EVERYBODY else str(self.principal)
        return f"{who} may {self.operation.name} {self.resource}{where}"


@dataclass(frozen=True, slots=True)
class AclFilter:
    """Which entries are meant; None and ANY leave it open. ALL means entries for ALL, not every operation."""

    resource_type: ResourceType = ResourceType.ANY
    resource_name: str | None = None
    principal: Principal | None = None
    host: str | None = None
    operation: Operation = Operation.ANY
    permission: Permission = Permission.ANY

    @property
    def resource(self) -> Resource | None:
        """The one resource that is meant, if it is one. Without a type, the name does not count."""
        if self.resource_type is ResourceType.ANY or self.resource_name is None:
            return None
        return Resource(self.resource_type, self.resource_name)

    def takes(self, acl: Acl) -> bool:
        """Whether an entry is meant."""
        return (
            self.resource_type in {ResourceType.ANY, acl.resource.type}
            and self.resource in {None, acl.resource}
            and self.principal in {None, acl.principal}
            and self.host in {None, acl.host}
            and self.operation in {Operation.ANY, acl.operation}
            and self.permission in {Permission.ANY, acl.permission}
        )
