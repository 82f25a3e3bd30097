"""Ledger: sees every request come and every answer go; counts them, slows down who is over their quota, and has
changes written down."""

from __future__ import annotations

from collections.abc import Callable

from lakeward.errors import ErrorCode, LakewardError
from lakeward.protocol.api import Api
from lakeward.rpc.dispatch import Exchange
from lakeward.server.grants.records.accounts import Accounts
from lakeward.server.grants.records.audit import Audit, Deed

#: Before somebody has said who they are, nobody's account is charged for it.
_UNCHARGED = frozenset({Api.API_VERSIONS, Api.AUTHENTICATE})


class Ledger:
    """A `Witness` of the dispatcher."""

    def __init__(self, accounts: Accounts, audit: Audit | None, now: Callable[[], float]) -> None:
        """Without an audit nothing is written down."""
        self._accounts = accounts
        self._audit = audit
        self._now = now

    def on_request(self, exchange: Exchange, size: int) -> None:
        """A request has come."""
        account = self._accounts.of(exchange.connection)
        account.ask(exchange.api, size)
        if account.has_quota and exchange.api not in _UNCHARGED:
            self._charge(exchange, 1, size)

    def on_answer(self, exchange: Exchange, size: int, wrong: LakewardError | None) -> None:
        """It is answered."""
        account = self._accounts.of(exchange.connection)
        account.answer(size)
        if account.has_quota and exchange.api not in _UNCHARGED:
            self._charge(exchange, 0, size)
        if self._audit is not None and exchange.subject is not None:
            self._note(self._audit, exchange, wrong)

    def _charge(self, exchange: Exchange, requests: int, size: int) -> None:
        wait_s = self._accounts.of(exchange.connection).charge(requests, size, self._now())
        if wait_s > 0:
            exchange.connection.rest(wait_s)

    def _note(self, audit: Audit, exchange: Exchange, wrong: LakewardError | None) -> None:
        deed = Deed(exchange.api.name, exchange.connection.principal, exchange.connection.peer)
        if wrong is None:
            audit.note_change(deed, exchange.subject)
        elif wrong.code is not ErrorCode.AUTHORIZATION:  # refusals are written down where they are made
            audit.note_failure(deed, wrong.code, exchange.subject)
