"""Logins of Flight clients: name and password once, then a token that stands for them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from threading import Lock
from typing import Any

from pyarrow import flight

from lakeward.errors import DeniedError, LakewardError
from lakeward.sql_server.access.accounts import Member
from lakeward.sql_server.access.basic import read_basic
from lakeward.sql_server.frame.house import House

_TOKENS_MAX = 10_000
_IDLE_S = 3600.0
_TOKEN_BYTES = 24


class Tokens:
    """Who each token stands for. Safe to share between threads."""

    def __init__(self, house: House) -> None:
        self._house = house
        self._lock = Lock()
        self._held: dict[str, tuple[Member, float]] = {}

    def give(self, member: Member) -> str:
        """A new token."""
        token = self._house.entropy.token(_TOKEN_BYTES).hex()
        with self._lock:
            gone = self._take_expired()
            self._held[token] = member, self._house.clock.monotonic()
        for one in gone:
            self._house.accounts.leave(one)
        return token

    def find(self, token: str) -> Member | None:
        """Whose it is; None for one that is not known, or was not used for long."""
        with self._lock:
            found = self._held.get(token)
            if found is None or self._house.clock.monotonic() - found[1] > _IDLE_S:
                return None
            self._held[token] = found[0], self._house.clock.monotonic()
            return found[0]

    def _take_expired(self) -> list[Member]:
        now = self._house.clock.monotonic()
        old = [token for token, (_, used) in self._held.items() if now - used > _IDLE_S]
        old += sorted(self._held, key=lambda token: self._held[token][1])[: max(len(self._held) - _TOKENS_MAX, 0)]
        return [self._held.pop(token)[0] for token in dict.fromkeys(old)]


class LoginFactory(flight.ServerMiddlewareFactory):  # type: ignore[misc]
    """In front of every call: who is it?"""

    def __init__(self, house: House, *, takes_passwords: bool) -> None:
        super().__init__()
        self._house = house
        self._takes_passwords = takes_passwords
        self._tokens = Tokens(house)

    def start_call(self, _info: Any, headers: Mapping[str, Sequence[str]]) -> LoginMiddleware:
        """Let a call in, or not."""
        given = next((v[0] for k, v in headers.items() if k.lower() == "authorization" and v), "")
        kind, _, rest = given.partition(" ")
        try:
            if kind.lower() == "bearer":
                member = self._tokens.find(rest.strip())
                if member is None:
                    raise flight.FlightUnauthenticatedError("The token is not known, or was not used for long.")
                return LoginMiddleware(member, None)
            if not self._house.accounts.asks_login():
                guest = self._house.accounts.guest()
                # Who brings a password wants a token for it, and drivers fail without one.
                return LoginMiddleware(guest, self._tokens.give(guest) if kind.lower() == "basic" else None)
            if kind.lower() != "basic":
                raise flight.FlightUnauthenticatedError("The cluster asks who you are: give user and password.")
            return self._by_password(rest)
        except DeniedError as wrong:
            raise flight.FlightUnauthenticatedError(wrong.message) from wrong
        except LakewardError as wrong:
            raise flight.FlightUnavailableError(wrong.message) from wrong

    def _by_password(self, text: str) -> LoginMiddleware:
        if not self._takes_passwords:
            raise flight.FlightUnauthenticatedError("Passwords are taken from other machines by TLS alone.")
        login = read_basic(text)
        if login is None:
            raise flight.FlightUnauthenticatedError("The login cannot be read.")
        member = self._house.accounts.log_in(*login)
        return LoginMiddleware(member, self._tokens.give(member))


class LoginMiddleware(flight.ServerMiddleware):  # type: ignore[misc]
    """Who makes a call."""

    def __init__(self, member: Member, token: str | None) -> None:
        super().__init__()
        self.member = member
        self._token = token

    def sending_headers(self) -> dict[str, str]:
        """The token, for one who has just logged in."""
        return {} if self._token is None else {"authorization": f"Bearer {self._token}"}


class NoHandshake(flight.ServerAuthHandler):  # type: ignore[misc]
    """Handshakes carry nothing of their own: what matters is in the headers."""

    def authenticate(self, _outgoing: Any, _incoming: Any) -> None:
        """Yes."""

    def is_valid(self, _token: bytes) -> bytes:
        """Whoever passed the headers."""
        return b""
