"""Accounts: who shares a connection to the cluster, and for how long it is kept."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import SimpleNamespace
from typing import Any, cast

import pytest

from lakeward.client.blocking.sync import Connection
from lakeward.errors import DeniedError, ErrorCode, LakewardError
from lakeward.runtime.clock import ManualClock
from lakeward.runtime.entropy import SeededEntropy
from lakeward.sql_server.access.accounts import Accounts


class _Cluster(Accounts):
    """Accounts of a cluster that lets in whoever has the right password, and notes what is closed."""

    def __init__(self, clock: ManualClock, options: Mapping[str, str], passwords: Mapping[str, str]) -> None:
        super().__init__("db:9123", options, {}, clock, SeededEntropy(7))
        self.passwords = dict(passwords)
        self.opened = 0
        self.closed = 0

    def _connect(self, more: Mapping[str, str], _login: Any = None) -> Connection:
        name = more.get("client.security.sasl.username", "")
        if self.passwords.get(name) != more.get("client.security.sasl.password", ""):
            raise ErrorCode.AUTHENTICATE.error("No.")
        self.opened += 1
        return cast(Connection, SimpleNamespace(inner=SimpleNamespace(close=self._note)))

    async def _note(self) -> None:
        self.closed += 1


@pytest.fixture
def clock() -> ManualClock:
    """The time that the accounts see."""
    return ManualClock()


@pytest.fixture
def accounts(clock: ManualClock) -> Iterator[_Cluster]:
    """Those of a cluster in which ann has a password, and nobody comes in without one."""
    made = _Cluster(clock, {}, {"ann": "secret"})
    yield made
    made.close()
    assert made.closed == made.opened


def test_one_person_has_one_connection(accounts: _Cluster) -> None:
    """However often they log in; each password is shown to the cluster nevertheless."""
    first, second = accounts.log_in("ann", "secret"), accounts.log_in("ann", "secret")
    assert first is second
    assert (first.users, accounts.opened, accounts.closed) == (2, 2, 1)
    assert accounts.again(first).users == 3


def test_a_wrong_password_is_refused_though_somebody_is_in_by_that_name(accounts: _Cluster) -> None:
    """What is remembered lets in nobody."""
    accounts.log_in("ann", "secret")
    with pytest.raises(DeniedError):
        accounts.log_in("ann", "guessed")


def test_a_password_that_was_changed_gives_a_connection_of_its_own(accounts: _Cluster) -> None:
    """Who came by the old one keeps theirs as long as they are there, and no longer."""
    before = accounts.log_in("ann", "secret")
    accounts.passwords["ann"] = "newer"
    after = accounts.log_in("ann", "newer")
    assert after is not before
    assert after.conn is not before.conn
    assert accounts.closed == 0
    accounts.leave(before)
    assert accounts.closed == 1
    accounts.leave(after)
    accounts.passwords["ann"] = "newest"
    accounts.log_in("ann", "newest")
    assert accounts.closed == 2


@pytest.mark.parametrize(("user", "password"), [("", "x"), ("ann", "${env:HOME}"), ("${file:/etc/passwd}", "x")])
def test_what_is_typed_is_no_place_to_look_for_a_secret(accounts: _Cluster, user: str, password: str) -> None:
    """Nor is a person without a name one."""
    with pytest.raises(LakewardError) as caught:
        accounts.log_in(user, password)
    assert caught.value.code is ErrorCode.AUTHENTICATE
    assert accounts.opened == 0


def test_whether_a_login_is_asked_for(accounts: _Cluster, clock: ManualClock) -> None:
    """By the cluster, unless this server was told who it is."""
    assert accounts.asks_login()
    lent = _Cluster(clock, {"client.security.sasl.username": "ann"}, {})
    assert not lent.asks_login()
    lent.close()
    open_to_all = _Cluster(clock, {}, {"": ""})
    assert not open_to_all.asks_login()
    assert open_to_all.guest() is open_to_all.guest()
    assert open_to_all.opened == 1
    open_to_all.close()


def test_connections_that_nobody_uses_are_closed_after_a_while(accounts: _Cluster, clock: ManualClock) -> None:
    """When the next one leaves; those in use stay."""
    accounts.passwords |= {"bob": "b", "eve": "e"}
    ann, bob, eve = accounts.log_in("ann", "secret"), accounts.log_in("bob", "b"), accounts.log_in("eve", "e")
    accounts.leave(ann)
    clock.advance(601_000)
    accounts.leave(bob)
    assert accounts.closed == 1
    assert accounts.log_in("eve", "e") is eve
