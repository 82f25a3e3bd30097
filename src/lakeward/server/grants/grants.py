"""Grants: what a server makes of its options on rights, records and quotas."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from pathlib import Path

from lakeward.model.acl import Operation
from lakeward.model.bucket import TableBucket
from lakeward.options import authorization as rows
from lakeward.options.security import asks_who_somebody_is
from lakeward.options.server_options import ServerOptions
from lakeward.protocol.api import Api
from lakeward.rpc.dispatch import Handler
from lakeward.runtime.metrics import Metrics
from lakeward.runtime.seldom import SeldomLog
from lakeward.server.books.producer_offsets import ProducerOffsets
from lakeward.server.books.snapshot_leases import SnapshotLeases
from lakeward.server.catalog.catalog import Catalog
from lakeward.server.grants.acl_handlers import AclHandlers
from lakeward.server.grants.acls.acl_book import AclBook
from lakeward.server.grants.acls.authorizer import Asker, Authorizer
from lakeward.server.grants.guard import guarded
from lakeward.server.grants.records.accounts import Accounts
from lakeward.server.grants.records.audit import Audit, Deed
from lakeward.server.grants.records.audit_file import AuditFile
from lakeward.server.grants.records.audited_calls import audited
from lakeward.server.grants.records.ledger import Ledger
from lakeward.server.grants.records.quotas import Quotas
from lakeward.server.grants.rules.known_things import KnownThings
from lakeward.server.grants.rules.rule import Judge
from lakeward.server.ground import Ground

_log = logging.getLogger(__name__)


class Grants:
    """Puts itself between clients and handlers."""

    def __init__(self, options: ServerOptions, ground: Ground) -> None:
        self._options = options
        self._ground = ground
        self._refusals = SeldomLog(_log, ground.clock.monotonic)
        self.audit = self._open_audit()
        self._accounts = Accounts(Quotas(options), ground.clock.monotonic)
        self.ledger = Ledger(self._accounts, self.audit, ground.clock.monotonic)
        self.authorizer = self._open_book() if options.get(rows.AUTHORIZER_ENABLED) else None

    def _open_audit(self) -> Audit | None:
        wanted = self._options.get(rows.AUDIT_ENABLED)
        if wanted is None:
            wanted = self._options.get(rows.AUTHORIZER_ENABLED) or asks_who_somebody_is(self._options.texts)
        if not wanted:
            return None
        place = self._options.get(rows.AUDIT_DIR)
        directory = self._ground.directory.root if place is None else Path(place)
        sizes = self._options.get(rows.AUDIT_FILE_SIZE), self._options.get(rows.AUDIT_FILES)
        return Audit(AuditFile(self._ground.directory.disk, directory, *sizes), self._ground.clock)

    def _open_book(self) -> Authorizer:
        book = AclBook(
            self._ground.metadata,
            ignore_case=self._options.get(rows.IGNORE_CASE),
            acls_max=self._options.get(rows.ACLS_MAX),
        )
        super_users = self._options.get(rows.SUPER_USERS)
        authorizer = Authorizer(book, super_users, self._note_refusal)
        if not authorizer.can_be_opened:
            _log.warning(
                "grants are checked, there are none, and nobody may make any: name somebody in '%s'",
                rows.SUPER_USERS.key,
            )
        return authorizer

    def handlers(
        self,
        handlers: Mapping[Api, Handler],
        catalog: Catalog,
        producers: ProducerOffsets,
        leases: SnapshotLeases,
    ) -> dict[Api, Handler]:
        """The handlers, asked only by those who may; changes say what they are about, for the record."""
        served = dict(handlers)
        if self.authorizer is not None:
            judge = Judge(self.authorizer, _known_things(catalog, producers, leases))
            served |= AclHandlers(self.authorizer).handlers()
            served = guarded(served, judge, tiering_is_open=self._options.get(rows.TIERING_CALLS) == "open")
        return served if self.audit is None else audited(served)

    def change_quotas(self, options: ServerOptions) -> None:
        """The options have changed while the server runs."""
        self._accounts.change_quotas(Quotas(options))

    def declare(self, metrics: Metrics) -> None:
        """Add what people watch."""
        self._accounts.declare(metrics)
        if self.audit is not None:
            audit = self.audit
            lost = metrics.counter("lakeward_audit_lost_total", "Lines of the audit log that could not be written.")
            lost.read_from(lambda: audit.lost)
        if self.authorizer is not None:
            index = self.authorizer.book.index
            metrics.gauge("lakeward_acls", "Grants there are.").read_from(lambda: len(index))

    def look(self) -> None:
        """Do what is due."""
        if self.audit is not None:
            self.audit.look()

    def close(self) -> None:
        """Write down what is left."""
        if self.audit is not None:
            self.audit.close()

    def _note_refusal(self, asker: Asker, operation: Operation, what: str) -> None:
        self._refusals.warn(f"refused {asker.principal} at {asker.peer}: may not {operation.name} {what:.500}")
        if self.audit is not None:
            deed = Deed(operation.name, asker.principal, asker.peer)
            self.audit.refused(deed, {"resource": what[:500]})


def _known_things(catalog: Catalog, producers: ProducerOffsets, leases: SnapshotLeases) -> KnownThings:
    def of_producer(producer_id: str) -> Iterable[TableBucket]:
        registered = producers.get(producer_id)
        return () if registered is None else registered.offsets

    def of_lease(lease_id: str) -> Iterable[TableBucket]:
        lease = leases.get(lease_id)
        return () if lease is None else lease.snapshots

    return KnownThings(catalog, of_producer, of_lease)
