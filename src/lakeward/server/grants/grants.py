"""Grants: what a server makes of its options on rights, records and quotas."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from lakeward.model.acl import Acl, Operation
from lakeward.model.bucket import TableBucket
from lakeward.model.principal import ANONYMOUS, Principal
from lakeward.options import authorization as rows
from lakeward.options.authentication import protocol_of
from lakeward.options.server import BIND_LISTENERS
from lakeward.options.server_options import ServerOptions
from lakeward.protocol.api import Api
from lakeward.rpc.dispatch import Handler
from lakeward.rpc.server_connection import ServerConnection
from lakeward.runtime.clock import Clock
from lakeward.runtime.files.port import Files
from lakeward.runtime.seldom import SeldomLog
from lakeward.server.access.doorkeeper import LoginReport
from lakeward.server.access.known.users_file import User
from lakeward.server.books.producer_offsets import ProducerOffsets
from lakeward.server.books.snapshot_leases import SnapshotLeases
from lakeward.server.catalog.catalog import Catalog
from lakeward.server.grants.acl_handlers import AclHandlers
from lakeward.server.grants.acls.acl_book import AclBook
from lakeward.server.grants.acls.authorizer import Asker, Authorizer
from lakeward.server.grants.guard import between_servers, guard_all
from lakeward.server.grants.records.accounts import Accounts
from lakeward.server.grants.records.audit import Audit, Deed
from lakeward.server.grants.records.audit_file import AuditFile
from lakeward.server.grants.records.audited_calls import note_subjects
from lakeward.server.grants.records.ledger import Ledger
from lakeward.server.grants.records.quotas import Quotas, TokenBucket
from lakeward.server.grants.rules.known_things import KnownThings
from lakeward.server.grants.rules.rule import Judge
from lakeward.server.metadata_store.port import MetadataStore
from lakeward.telemetry.metrics import Metrics
from lakeward.telemetry.rows import security as metric_rows

_log = logging.getLogger(__name__)
_LOGIN = "LOGIN"
#: Whoever changes users has no name here.
_USERS_FILE = Principal("lakeward users", "Command")
_REFUSALS = "refusals"
_REFUSALS_PER_S = 10
_REFUSAL_REST_S_MAX = 1.0


class Grants:
    """Puts itself between clients and handlers."""

    def __init__(self, options: ServerOptions, store: MetadataStore, disk: Files, data_dir: Path, clock: Clock) -> None:
        self._options = options
        self._now = clock.monotonic
        self._refusals = SeldomLog(_log, clock.monotonic)
        self._audit = self._open_audit(disk, data_dir, clock)
        self._accounts = Accounts(Quotas(options), clock.monotonic)
        self._authorizer = self._open_book(store) if options.get(rows.AUTHORIZER_ENABLED) else None
        self.ledger = Ledger(self._accounts, self._audit, clock.monotonic)

    def _open_audit(self, disk: Files, data_dir: Path, clock: Clock) -> Audit | None:
        wanted = self._options.get(rows.AUDIT_ENABLED)
        if not (self._has_something_to_guard() if wanted is None else wanted):
            return None
        place = self._options.get(rows.AUDIT_DIR)
        directory = data_dir if place is None else Path(place)
        sizes = self._options.get(rows.AUDIT_FILE_SIZE), self._options.get(rows.AUDIT_FILES)
        return Audit(AuditFile(disk, directory, *sizes), clock)

    def _has_something_to_guard(self) -> bool:
        listeners = self._options.get(BIND_LISTENERS)
        asks = any(protocol_of(self._options.texts, listener.name).asks_who for listener in listeners)
        return asks or self._options.get(rows.AUTHORIZER_ENABLED)

    def _open_book(self, store: MetadataStore) -> Authorizer:
        book = AclBook(
            store,
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
        *,
        learns: bool = False,
    ) -> dict[Api, Handler]:
        """The handlers, asked only by those who may; changes say what they are about, for the record. Who `learns`
        the grants of another server does not change them."""
        served = between_servers(handlers)
        if self._authorizer is not None:
            judge = Judge(self._authorizer, _known_things(catalog, producers, leases))
            of_grants = AclHandlers(self._authorizer).handlers()
            served |= {Api.LIST_ACLS: of_grants[Api.LIST_ACLS]} if learns else of_grants
            served = guard_all(served, judge, tiering_is_open=self._options.get(rows.TIERING_CALLS) == "open")
        return served if self._audit is None else note_subjects(served)

    @property
    def learn(self) -> Callable[[Iterable[Acl]], None] | None:
        """Takes the grants that another server keeps; None where none are checked."""
        return None if self._authorizer is None else self._authorizer.book.learn

    def hear(self, report: LoginReport) -> None:
        """A login has come to an end. Who came in is seen by what they do; who did not is written down."""
        if self._audit is not None and report.principal is None:
            self._audit.note_refusal(Deed(_LOGIN, ANONYMOUS, report.peer), {"mechanism": report.mechanism})

    def note_users(self, before: Mapping[str, User], after: Mapping[str, User]) -> None:
        """Users were changed by whoever has the data directory; who that was, the system knows."""
        if self._audit is None:
            return
        for name in sorted(before.keys() | after.keys()):
            if before.get(name) != after.get(name):
                event = "CREATE_USER" if name not in before else "DROP_USER" if name not in after else "CHANGE_PASSWORD"
                self._audit.note_change(Deed(event, _USERS_FILE, ""), {"user": name})

    def change_quotas(self, options: ServerOptions) -> None:
        """The options have changed while the server runs."""
        self._accounts.change_quotas(Quotas(options))

    def declare(self, metrics: Metrics) -> None:
        """Add what people watch."""
        self._accounts.declare(metrics)
        if self._audit is not None:
            audit = self._audit
            lost = metrics.counter(metric_rows.AUDIT_LOST)
            lost.read_from(lambda: audit.lost)
        if self._authorizer is not None:
            index = self._authorizer.book.index
            metrics.gauge(metric_rows.ACLS).read_from(lambda: len(index))

    def look(self) -> None:
        """Do what is due."""
        if self._audit is not None:
            self._audit.look()

    def close(self) -> None:
        """Write down what is left."""
        if self._audit is not None:
            self._audit.close()

    def _note_refusal(self, asker: Asker, operation: Operation, what: str) -> None:
        self._slow_down(asker.connection)
        self._refusals.warn(f"refused {asker.principal} at {asker.peer}: may not {operation.name} {what:.500}")
        if self._audit is not None:
            deed = Deed(operation.name, asker.principal, asker.peer)
            self._audit.note_refusal(deed, {"resource": what[:500]})

    def _slow_down(self, connection: ServerConnection | None) -> None:
        """Whoever is refused again and again is read more slowly: pyfluss asks for rows that it may not read for ever,
        thousands of times a second."""
        if connection is None:
            return
        bucket = connection.state.get(_REFUSALS)
        if not isinstance(bucket, TokenBucket):
            bucket = connection.state[_REFUSALS] = TokenBucket(_REFUSALS_PER_S, self._now())
        wait_s = bucket.take(1, self._now())
        if wait_s > 0:
            connection.rest(min(wait_s, _REFUSAL_REST_S_MAX))


def _known_things(catalog: Catalog, producers: ProducerOffsets, leases: SnapshotLeases) -> KnownThings:
    def of_producer(producer_id: str) -> Iterable[TableBucket]:
        registered = producers.get(producer_id)
        return () if registered is None else registered.offsets

    def of_lease(lease_id: str) -> Iterable[TableBucket]:
        lease = leases.get(lease_id)
        return () if lease is None else lease.snapshots

    return KnownThings(catalog, of_producer, of_lease)
