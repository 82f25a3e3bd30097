"""Doorkeeper: strangers, and how they become somebody.

greet          a client has come: a stranger where its listener asks who it is
authenticate   AUTHENTICATE: it shows who it is; a wrong answer is slow, counted, and the last one
page           HTTP on such a listener: name and password in its header
look           by the clock: strangers whose time is up go, and so does who is no user any more
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import logging
import re
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple, Protocol

from lakeward.errors import ErrorCode, LakewardError
from lakeward.model.principal import Principal
from lakeward.options.authentication import ListenerProtocol
from lakeward.protocol.api import Api
from lakeward.protocol.messages.auth import AuthenticateRequest, AuthenticateResponse
from lakeward.rpc.dispatch import Exchange
from lakeward.rpc.server_connection import ServerConnection
from lakeward.runtime.scram import ScramSecret
from lakeward.runtime.seldom import SeldomLog
from lakeward.server.access.bounds.failed_logins import FailedLogins
from lakeward.server.access.encryption.subjects import principal_of
from lakeward.server.access.known.credentials import Credentials
from lakeward.server.access.known.users import Users
from lakeward.server.access.logins import Asked, Logins, Proven

_log = logging.getLogger(__name__)
#: How a page's reader logs in, beside SASL's mechanisms.
HTTP = "HTTP"
#: What a stranger may ask: what there is to ask, and to be let in.
_FOR_STRANGERS = frozenset((Api.API_VERSIONS.value, Api.AUTHENTICATE.value))
#: A message of a login is small. Larger frames need memory, which a stranger does not get.
_STRANGER_FRAME_BYTES = 16 << 10
#: Requests that are refused before a stranger is asked to leave: no client sends so many.
_REFUSALS_MAX = 100
_BASIC = re.compile(rb"\r\nauthorization:[ \t]*basic[ \t]+([a-z0-9+/=]+)[ \t]*\r\n", re.IGNORECASE)


class Door(NamedTuple):
    """One listener's rule; `logins` and `credentials` are None where nobody is asked."""

    protocol: ListenerProtocol
    logins: Logins | None = None
    credentials: Credentials | None = None


@dataclass(slots=True)
class Stranger:
    """Somebody who has not shown yet who they are."""

    since: float
    asked: Asked | None = None
    refusals: int = 0


class Insider(NamedTuple):
    """Somebody who has logged in, and what that was checked against."""

    name: str
    secret: ScramSecret


class LoginReport(NamedTuple):
    """A login that has come to an end."""

    peer: str
    mechanism: str
    #: Who it was; None when they are not who they said.
    principal: Principal | None


class Pages(Protocol):
    """What answers plain HTTP."""

    def __call__(self, request: bytes, *, is_stranger: bool = False) -> bytes | asyncio.Future[bytes]:
        """The whole answer, now or later; a stranger is asked to log in."""
        ...


class Doorkeeper:
    """One for all listeners."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        doors: Mapping[str, Door],
        users: Users,
        failures: FailedLogins,
        timeout_s: float,
        hear: Callable[[LoginReport], None],
        *,
        whole_subjects: bool,
    ) -> None:
        """`doors` by the name of the listener; `hear` is told of every login."""
        self._loop = loop
        self._doors = doors
        self._users = users
        self._failures = failures
        self._timeout_s = timeout_s
        self._hear = hear
        self._whole_subjects = whole_subjects
        self._strangers: dict[ServerConnection, Stranger] = {}
        self._insiders: dict[ServerConnection, Insider] = {}
        #: The change of users after which it was last looked who is still the same.
        self._swept = users.changes
        self._told = SeldomLog(_log, loop.time)

    # -- coming and going

    def greet(self, connection: ServerConnection) -> None:
        """A client has come."""
        if self._doors[connection.listener].protocol.asks_who:
            self._strangers[connection] = Stranger(self._loop.time())
            connection.await_login(_STRANGER_FRAME_BYTES)
        elif connection.certificate:
            owner = principal_of(connection.certificate, whole=self._whole_subjects)
            if owner is not None:
                connection.let_in(owner)

    def forget(self, connection: ServerConnection) -> None:
        """A client has gone."""
        self._strangers.pop(connection, None)
        self._insiders.pop(connection, None)

    def refusal(self, connection: ServerConnection, api_key: int) -> LakewardError | None:
        """Why a request is not even looked at; None when it is."""
        stranger = self._strangers.get(connection)
        if stranger is None or api_key in _FOR_STRANGERS:
            return None
        stranger.refusals += 1
        if stranger.refusals >= _REFUSALS_MAX:
            self._loop.call_soon(connection.close)
        return ErrorCode.AUTHENTICATE.error("This listener asks who you are; log in before anything else.")

    def look(self) -> None:
        """Do what is due by the clock; call it every second or so."""
        late = self._loop.time() - self._timeout_s
        for connection, stranger in list(self._strangers.items()):
            if stranger.since < late:
                self._told.warn(f"closed the connection of {connection.peer}: it did not log in within the time for it")
                connection.abort()
        self._users.look(again=True)
        if self._users.changes != self._swept:
            self._swept = self._users.changes
            self._send_away_others()

    def _send_away_others(self) -> None:
        """Close connections of users who are not the same any more."""
        for connection, insider in list(self._insiders.items()):
            credentials = self._doors[connection.listener].credentials
            if credentials is None or credentials.current(insider.name) != insider.secret:
                _log.info("closed the connection of %s: the user was dropped, or has another password", connection.peer)
                connection.abort()

    # -- AUTHENTICATE

    def authenticate(self, request: AuthenticateRequest, exchange: Exchange) -> Any:
        """AUTHENTICATE: the steps to its answer."""
        connection = exchange.connection
        logins = self._doors[connection.listener].logins
        if logins is None:
            return _without_login(request, self._doors[connection.listener].protocol)
        stranger = self._strangers.get(connection)
        if stranger is None:
            return AuthenticateResponse()  # pyfluss says it again after a challenge that was empty
        return self._log_in(logins, stranger, request, exchange)

    def _log_in(
        self, logins: Logins, stranger: Stranger, request: AuthenticateRequest, exchange: Exchange
    ) -> Generator[Any, None, AuthenticateResponse | None]:
        connection, asked, stranger.asked = exchange.connection, stranger.asked, None
        token = bytes(request.token)
        connection.free_buffer()  # thousands may wait until their wrong password is refused
        try:
            self._check_rate(connection)
            shown = (yield from logins.begin(request.protocol, token)) if asked is None else logins.finish(asked, token)
        except LakewardError as wrong:
            yield from self._refuse(connection, request.protocol, wrong)
            exchange.fail(wrong)
            if wrong.code is ErrorCode.AUTHENTICATE:
                connection.close()
            return None
        if isinstance(shown, Asked):
            stranger.asked = shown
            return AuthenticateResponse(challenge=shown.said.message)
        self._let_in(connection, request.protocol, shown)
        return AuthenticateResponse(challenge=shown.last_words)

    def _check_rate(self, connection: ServerConnection) -> None:
        if self._failures.are_too_many(connection.address):
            raise ErrorCode.RETRIABLE_AUTHENTICATE.error(
                "Too many wrong logins came from your address; try again in a minute."
            )

    def _let_in(self, connection: ServerConnection, mechanism: str, shown: Proven) -> None:
        if self._strangers.pop(connection, None) is None:
            return  # gone meanwhile
        principal = Principal(shown.name)
        self._insiders[connection] = Insider(shown.name, shown.secret)
        connection.let_in(principal)
        self._hear(LoginReport(connection.peer, mechanism, principal))

    def _refuse(self, connection: ServerConnection, mechanism: str, wrong: LakewardError) -> Generator[Any, None, None]:
        """Let some time pass. Only a wrong login counts: whoever is told to try again has not been looked at."""
        if wrong.code is ErrorCode.AUTHENTICATE:
            self._failures.add(connection.address)
            self._hear(LoginReport(connection.peer, mechanism, None))
            # Without the name, which may be a password in the wrong field.
            self._told.warn(f"a login from {connection.peer} failed")
        yield self._later(self._failures.pause_s(connection.address))

    def _later(self, pause_s: float) -> asyncio.Future[None]:
        due: asyncio.Future[None] = self._loop.create_future()
        self._loop.call_later(pause_s, due.set_result, None)
        return due

    # -- HTTP

    def page(self, connection: ServerConnection, request: bytes, pages: Pages) -> bytes | asyncio.Future[bytes]:
        """A page for whoever may see it; where that takes a login, later."""
        logins = self._doors[connection.listener].logins
        if logins is None:
            return pages(request)
        found = _BASIC.search(request)
        if found is None:
            return pages(request, is_stranger=True)
        return asyncio.ensure_future(self._page(logins, connection, found[1], partial(pages, request)), loop=self._loop)

    async def _page(
        self,
        logins: Logins,
        connection: ServerConnection,
        token: bytes,
        page: Callable[..., bytes | asyncio.Future[bytes]],
    ) -> bytes:
        try:
            self._check_rate(connection)
            self._let_in(connection, HTTP, await _walk(logins.by_password(*_basic(token))))
        except LakewardError as wrong:
            await _walk(self._refuse(connection, HTTP, wrong))
            return await _whole(page(is_stranger=True))
        return await _whole(page())


async def _whole(page: bytes | asyncio.Future[bytes]) -> bytes:
    return page if isinstance(page, bytes) else await page


async def _walk(steps: Generator[Any, None, Any]) -> Any:
    """What steps lead to, for those who may wait."""
    try:
        while True:
            await asyncio.wait([next(steps)])
    except StopIteration as end:
        return end.value


def _basic(token: bytes) -> tuple[str, str]:
    try:
        name, _, password = base64.b64decode(token, validate=True).decode().partition(":")
    except (binascii.Error, UnicodeDecodeError):
        raise ErrorCode.AUTHENTICATE.error() from None
    return name, password


def _without_login(request: AuthenticateRequest, protocol: ListenerProtocol) -> AuthenticateResponse:
    """AUTHENTICATE on a listener that asks for nothing."""
    if request.protocol.upper() != ListenerProtocol.PLAINTEXT.value:
        raise ErrorCode.AUTHENTICATE.error(
            f"This listener is {protocol.value}, not '{request.protocol[:80]}'; connect without authentication."
        )
    return AuthenticateResponse()
