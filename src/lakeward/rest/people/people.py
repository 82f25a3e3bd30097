"""People: connections to the cluster, one for each user, and the tokens of OAuth2 that stand for them.

Users and passwords are those of the cluster, which is asked whether they are right; its grants decide what they see.
A token is known by its hash alone, and ends with its hour or with this process.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from threading import Lock

from lakeward.client.blocking.sync import Connection
from lakeward.errors import DeniedError, ErrorCode, LakewardError
from lakeward.options import client as rows
from lakeward.options.secrets import is_reference
from lakeward.query.door import connect
from lakeward.rest.protocol.failures import RestError, not_authorized
from lakeward.runtime.clock import Clock
from lakeward.runtime.entropy import Entropy

#: A reader waits, so give up sooner than a program would.
_PATIENCE = {rows.CONNECT_TIMEOUT.key: "5 s", rows.REQUEST_TIMEOUT.key: "20 s"}
TOKEN_LIFE_S = 3600
_TOKENS_MAX = 1000
#: Each has a connection; with more, the one that was idle for the longest time goes.
_USERS_MAX = 100
_TOKEN_BYTES = 32
_NAME_MAX = 1000


@dataclass(slots=True)
class _User:
    connection: Connection
    seen_s: float


@dataclass(frozen=True, slots=True)
class _Token:
    user: str
    password_hash: str
    ends_s: float


class People:
    """Everybody who asks; safe to be shared by threads."""

    def __init__(
        self, bootstrap: str, options: Mapping[str, str], lake: Mapping[str, str], clock: Clock, entropy: Entropy
    ) -> None:
        self._bootstrap = bootstrap
        self._options = {**_PATIENCE, **options}
        self._lake = dict(lake)
        self._clock = clock
        self._entropy = entropy
        self._pepper = entropy.token(_TOKEN_BYTES)
        self._lock = Lock()
        self._opening = Lock()
        self._own: Connection | None = None
        self._users: dict[tuple[str, str], _User] = {}
        self._tokens: dict[str, _Token] = {}

    # -- tokens -------------------------------------------------------------------------------------------------------

    def token_for(self, user: str, password: str) -> str:
        """A token for somebody who proves who they are, to the cluster."""
        if not user or len(user) > _NAME_MAX or len(password) > _NAME_MAX:
            raise _unknown_client()
        if is_reference(user) or is_reference(password):  # what they send is never taken for a place to look it up
            raise _unknown_client()
        key = user, self._hash(password)
        self._log_in(key, password)
        return self._new_token(key)

    def exchange_token(self, token: str) -> str:
        """A new token for who has one that still holds."""
        known = self._find_token(token)
        return self._new_token((known.user, known.password_hash))

    def _log_in(self, key: tuple[str, str], password: str) -> None:
        login = {rows.SASL_USERNAME.key: key[0], rows.SASL_PASSWORD.key: password}
        try:
            opened = connect(self._bootstrap, lake=self._lake, **{**self._options, **login})
        except DeniedError:
            raise _unknown_client() from None
        with self._lock:
            known = self._users.setdefault(key, _User(opened, self._clock.monotonic()))
            known.seen_s = self._clock.monotonic()
            most = sorted(self._users.items(), key=lambda item: item[1].seen_s)
            going = [self._users.pop(gone).connection for gone, _ in most[: max(len(most) - _USERS_MAX, 0)]]
        for one in [*going, *([] if known.connection is opened else [opened])]:  # it was but asked who they are
            one.close()

    def _new_token(self, key: tuple[str, str]) -> str:
        token = base64.urlsafe_b64encode(self._entropy.token(_TOKEN_BYTES)).decode().rstrip("=")
        now_s = self._clock.monotonic()
        with self._lock:
            self._tokens = {name: known for name, known in self._tokens.items() if known.ends_s > now_s}
            while len(self._tokens) >= _TOKENS_MAX:
                self._tokens.pop(next(iter(self._tokens)))
            self._tokens[self._hash(token)] = _Token(*key, now_s + TOKEN_LIFE_S)
        return token

    def _find_token(self, token: str) -> _Token:
        with self._lock:
            found = self._tokens.get(self._hash(token))
        if found is None or found.ends_s <= self._clock.monotonic():
            raise not_authorized("The token is not, or no longer, one of this catalog: ask for a new one.")
        return found

    # -- connections --------------------------------------------------------------------------------------------------

    def of_token(self, token: str) -> Connection:
        """The connection of whoever has this token."""
        known = self._find_token(token)
        with self._lock:
            user = self._users.get((known.user, known.password_hash))
            if user is None:  # its connection had to go; the password was not kept
                raise not_authorized("This login has ended: ask for a new token.")
            user.seen_s = self._clock.monotonic()
            return user.connection

    def own(self) -> Connection:
        """The catalog's own connection: of its user, or of nobody in particular."""
        with self._opening:
            if self._own is None:
                try:
                    self._own = connect(self._bootstrap, lake=self._lake, **self._options)
                except LakewardError as wrong:
                    if wrong.code is ErrorCode.AUTHENTICATE:
                        raise not_authorized("The cluster asks who this is: ask for a token first.") from None
                    raise
            return self._own

    def _hash(self, text: str) -> str:
        return hashlib.blake2b(text.encode(), key=self._pepper, digest_size=32).hexdigest()

    def close(self) -> None:
        """Close every connection."""
        with self._lock:
            users, self._users, self._tokens = list(self._users.values()), {}, {}
        for one in [*(user.connection for user in users), *([] if self._own is None else [self._own])]:
            one.close()


def _unknown_client() -> RestError:
    return RestError(401, "invalid_client", "The cluster does not take this user and password.")
