"""Whether a seat and its cluster let each other in: each mistake has its own sentence, before it is registered."""

from __future__ import annotations

import asyncio
from typing import Any, cast

import pytest

from lakeward.errors import ErrorCode, InvalidError, LakewardError
from lakeward.options.server_options import ServerOptions
from lakeward.protocol.api import Api
from lakeward.server.replica.entry import check_coordinator, check_listener
from lakeward.server.replica.seat import CoordinatorAtAddress

_TWO = ("bind.listeners=IN://localhost:1,OUT://localhost:2", "internal.listener.name=IN")
_ASKS = "security.protocol.map=IN:SASL"


class _Coordinator:
    """At the address of some listeners; answers every question with one error, or with yes."""

    def __init__(self, *listeners: str, wrong: LakewardError | None = None) -> None:
        self.addresses = {name: ("there", number) for number, name in enumerate(listeners, 1)}
        self._wrong = wrong
        self.asked: list[Api] = []

    async def ask(self, api: Api, _: Any) -> None:
        self.asked.append(api)
        if self._wrong is not None:
            raise self._wrong


def _check(coordinator: _Coordinator, listener: str = "IN") -> None:
    asyncio.run(check_coordinator(cast("CoordinatorAtAddress", coordinator), listener))


@pytest.mark.parametrize(("pairs", "logs_in"), [((), False), (_TWO, False), ((*_TWO, _ASKS), True)])
def test_listeners_that_agree_are_taken(pairs: tuple[str, ...], logs_in: bool) -> None:
    """Nobody is asked, or everybody is."""
    check_listener(ServerOptions.of(pairs=pairs), logs_in=logs_in)


@pytest.mark.parametrize(
    ("pairs", "logs_in", "words"),
    [
        (("internal.listener.name=IN",), False, "IN, and this server has no such listener.*it has FLUSS"),
        ((*_TWO, _ASKS), False, "IN.*asks for a login.*'client.security.sasl.username'"),
        (_TWO, True, "own listener IN asks nobody.*'security.protocol.map' = IN:SASL"),
        ((*_TWO, "security.protocol.map=OUT:SASL"), True, "own listener IN asks nobody"),
    ],
)
def test_listeners_that_nobody_could_come_by_are_refused(pairs: tuple[str, ...], logs_in: bool, words: str) -> None:
    """With the option that is missing."""
    with pytest.raises(InvalidError, match=words):
        check_listener(ServerOptions.of(pairs=pairs), logs_in=logs_in)


def test_a_coordinator_with_other_listeners_is_told() -> None:
    """It would never look at this server, and say so only in its own log."""
    with pytest.raises(InvalidError, match=r"no listener FLUSS.*it has IN, OUT.*'internal\.listener\.name'"):
        _check(_Coordinator("IN", "OUT"), "FLUSS")


def test_a_coordinator_that_lets_nobody_in_unasked_is_told() -> None:
    """Clients of this server would be told to log in, whoever they are."""
    closed = _Coordinator("IN", wrong=ErrorCode.AUTHENTICATE.error("log in first."))
    with pytest.raises(InvalidError, match=r"at there:1 does not let this server in.*log in first\..*IN"):
        _check(closed)


def test_one_that_is_away_is_waited_for() -> None:
    """Or may not say; only being shut out is final."""
    _check(_Coordinator())
    for code in (ErrorCode.NETWORK, ErrorCode.AUTHORIZATION):
        away = _Coordinator("IN", wrong=code.error("no"))
        _check(away)
        assert away.asked
