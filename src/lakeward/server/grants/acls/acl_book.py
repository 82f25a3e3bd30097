"""AclBook: the entries, kept in the metadata store. What it says was granted or revoked is on disk."""

from __future__ import annotations

import json
from collections.abc import Iterable

from lakeward.errors import ErrorCode
from lakeward.model.acl import Acl, AclFilter, Operation, Permission, Resource, ResourceType
from lakeward.model.principal import Principal
from lakeward.options.authorization import ACLS_MAX
from lakeward.server.grants.acls.acl_index import AclIndex
from lakeward.server.metadata_store.port import Document, MetadataStore

AREA = "acls"
_VERSION = 1


class AclBook:
    """Entries in memory, written through: a change is durable before anybody is let in or kept out by it."""

    def __init__(self, store: MetadataStore, *, ignore_case: bool = False, acls_max: int = ACLS_MAX.default) -> None:
        self._store = store
        self._acls_max = acls_max
        self.index = AclIndex((_of_key(one.key) for one in store.documents(AREA)), ignore_case=ignore_case)
        #: Grows with every change; what was decided before may no longer hold.
        self.version = 0

    def add(self, acls: Iterable[Acl]) -> None:
        """Keep entries, all of them or none; those that are there are fine."""
        new = [acl for acl in dict.fromkeys(acls) if acl not in self.index]
        if not new:
            return
        if len(self.index) + len(new) > self._acls_max:
            raise ErrorCode.OPERATION_NOT_ATTEMPTED.error(
                f"There are {len(self.index)} grants, and no more than {self._acls_max} are kept (option"
                f" '{ACLS_MAX.key}'). Grant on a database or on the cluster instead of on each table."
            )
        with self._store.change() as change:
            for acl in new:
                change.put_document(Document(AREA, _to_key(acl), str(_VERSION)))
        for acl in new:
            self.index.add(acl)
        self.version += 1

    def remove(self, acls: Iterable[Acl]) -> None:
        """Forget entries, all of them or none; those that are not there are fine."""
        gone = [acl for acl in dict.fromkeys(acls) if acl in self.index]
        if not gone:
            return
        with self._store.change() as change:
            for acl in gone:
                change.delete_document(AREA, _to_key(acl))
        for acl in gone:
            self.index.remove(acl)
        self.version += 1

    def learn(self, acls: Iterable[Acl]) -> None:
        """Have these entries and no others: another server of the cluster keeps them."""
        told = set(acls)
        before = set(self.index.candidates(AclFilter()))
        self.remove(before - told)
        self.add(told - before)


def _to_key(acl: Acl) -> str:
    """An entry is its own key, so that one cannot be there twice."""
    return json.dumps(
        [
            acl.resource.type.name,
            acl.resource.name,
            acl.principal.type,
            acl.principal.name,
            acl.host,
            acl.operation.name,
            acl.permission.name,
        ]
    )


def _of_key(key: str) -> Acl:
    kind, name, principal_type, principal_name, host, operation, permission = json.loads(key)
    return Acl(
        Resource(ResourceType[kind], name),
        Principal(principal_name, principal_type),
        Operation[operation],
        host,
        Permission[permission],
    )
