"""Accounts: what each principal has asked for, and for how long they have to wait."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from lakeward.model.principal import Principal
from lakeward.protocol.api import Api
from lakeward.rpc.server_connection import ServerConnection
from lakeward.server.grants.records.quotas import Quota, Quotas, TokenBucket
from lakeward.telemetry.metrics import Labels, Metrics
from lakeward.telemetry.rows import security as metric_rows

_ACCOUNT = "account"
#: Certificates may name any number of principals; those that come after so many share an account.
_ACCOUNTS_MAX = 2000
_OTHERS = Principal("(others)", "")


class Account:
    """One principal's: requests by API, bytes both ways, and what is left of the quota."""

    __slots__ = ("_bytes", "_requests", "bytes_answered", "bytes_asked", "calls", "principal")

    def __init__(self, principal: Principal, quota: Quota, now: float) -> None:
        self.principal = principal
        self.calls: dict[Api, int] = {}
        self.bytes_asked = 0
        self.bytes_answered = 0
        self._bytes: TokenBucket | None = None
        self._requests: TokenBucket | None = None
        self.allow(quota, now)

    def allow(self, quota: Quota, now: float) -> None:
        """Let the principal use so much from now on."""
        self._bytes = TokenBucket(quota.bytes_per_s, now) if quota.bytes_per_s else None
        self._requests = TokenBucket(quota.requests_per_s, now) if quota.requests_per_s else None

    @property
    def has_quota(self) -> bool:
        """Whether there is anything to wait for."""
        return self._bytes is not None or self._requests is not None

    def ask(self, api: Api, size: int) -> None:
        """Count a request."""
        self.calls[api] = self.calls.get(api, 0) + 1
        self.bytes_asked += size

    def answer(self, size: int) -> None:
        """Count an answer."""
        self.bytes_answered += size

    def charge(self, requests: int, size: int, now: float) -> float:
        """Take from the quota; returns for how many seconds the principal should wait."""
        by_requests = 0.0 if self._requests is None else self._requests.take(requests, now)
        return by_requests if self._bytes is None else max(by_requests, self._bytes.take(size, now))


class _Kept(NamedTuple):
    """The account that belongs to a connection, as long as its principal is the same."""

    principal: Principal
    account: Account


class Accounts:
    """All accounts, kept until the server stops."""

    def __init__(self, quotas: Quotas, now: Callable[[], float]) -> None:
        self._quotas = quotas
        self._now = now
        self._accounts: dict[Principal, Account] = {}

    def of(self, connection: ServerConnection) -> Account:
        """The account of whoever is at the other end."""
        kept = connection.state.get(_ACCOUNT)
        if isinstance(kept, _Kept) and kept.principal is connection.principal:
            return kept.account
        account = self._find(connection.principal)
        connection.state[_ACCOUNT] = _Kept(connection.principal, account)
        return account

    def _find(self, principal: Principal) -> Account:
        if principal not in self._accounts and len(self._accounts) >= _ACCOUNTS_MAX:
            principal = _OTHERS
        account = self._accounts.get(principal)
        if account is None:
            account = self._accounts[principal] = Account(principal, self._quotas.of(principal), self._now())
        return account

    def change_quotas(self, quotas: Quotas) -> None:
        """Other quotas hold from now on; what was owed is forgiven."""
        self._quotas = quotas
        for principal, account in self._accounts.items():
            account.allow(quotas.of(principal), self._now())

    def declare(self, metrics: Metrics) -> None:
        """Show them among the metrics."""
        calls = metrics.counter(metric_rows.PRINCIPAL_REQUESTS)
        calls.read_all_from(self._calls)
        asked = metrics.counter(metric_rows.PRINCIPAL_REQUEST_BYTES)
        asked.read_all_from(lambda: self._by_principal(lambda account: account.bytes_asked))
        answered = metrics.counter(metric_rows.PRINCIPAL_RESPONSE_BYTES)
        answered.read_all_from(lambda: self._by_principal(lambda account: account.bytes_answered))

    def _calls(self) -> Mapping[Labels, float]:
        return {
            (str(account.principal), api.name): count
            for account in self._accounts.values()
            for api, count in account.calls.items()
        }

    def _by_principal(self, read: Callable[[Account], int]) -> Mapping[Labels, float]:
        return {(str(one.principal),): read(one) for one in self._accounts.values()}
