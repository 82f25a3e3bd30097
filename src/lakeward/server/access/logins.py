"""Logins by SASL: PLAIN, where the password is sent, and SCRAM-SHA-256, where it is proven in two rounds.

    begin(mechanism, token)  → Proven, or Asked: the client has to answer a challenge
    finish(asked, token)     → Proven

Whatever is wrong, a name, a password or a message that cannot be read, is an error 46.
"""

from __future__ import annotations

from collections.abc import Collection, Generator
from typing import Any, NamedTuple

from lakeward.errors import ErrorCode, LakewardError
from lakeward.options.authentication import PLAIN, SCRAM
from lakeward.runtime.entropy import Entropy
from lakeward.runtime.saslprep import prepared_text
from lakeward.runtime.scram import MESSAGE_BYTES_MAX, NONCE_BYTES, ClientFirst, ScramSecret, ServerFirst, new_nonce
from lakeward.server.access.known.credentials import Credentials

_SHOWN_CHARACTERS = 40


class Proven(NamedTuple):
    """Somebody has shown who they are; `last_words` is what they are owed for that."""

    name: str
    secret: ScramSecret
    last_words: bytes | None = None


class Asked(NamedTuple):
    """Somebody has been asked to prove that they are who they say."""

    said: ServerFirst
    name: str
    #: None for somebody who is not known, who need not know that yet.
    secret: ScramSecret | None


class Logins:
    """Of one listener."""

    def __init__(self, mechanisms: Collection[str], credentials: Credentials, entropy: Entropy) -> None:
        self._mechanisms = mechanisms
        self._credentials = credentials
        self._entropy = entropy

    def begin(self, mechanism: str, token: bytes) -> Generator[Any, None, Proven | Asked]:
        """The first message of a client."""
        named = mechanism.upper()
        if named not in self._mechanisms:
            shown = "".join(one if one.isprintable() else "?" for one in mechanism[:_SHOWN_CHARACTERS])
            offered = ", ".join(self._mechanisms)
            raise ErrorCode.AUTHENTICATE.error(f"'{shown}' is no way to log in here; these are: {offered}.")
        if len(token) > MESSAGE_BYTES_MAX:
            raise _refusal()
        return (yield from (self._by_password(*_plain(token)) if named == PLAIN else self._ask(token)))

    def by_password(self, name: str, password: str) -> Generator[Any, None, Proven]:
        """Somebody who has sent a password, where that is a way to log in."""
        if PLAIN not in self._mechanisms:
            raise ErrorCode.AUTHENTICATE.error(f"Passwords are not taken here, only {SCRAM}.")
        return (yield from self._by_password(name, password))

    def _by_password(self, name: str, password: str) -> Generator[Any, None, Proven]:
        known = _name_of(name)
        if not known or not password or not (yield from self._credentials.is_right(known, password)):
            raise _refusal()
        secret = self._credentials.current(known)
        if secret is None:  # dropped while the password was hashed
            raise _refusal()
        return Proven(known, secret)

    def _ask(self, token: bytes) -> Generator[Any, None, Asked]:
        first = ClientFirst.read(token)
        name = _name_of(first.username)
        secret = yield from self._credentials.find(name)
        shown = secret or self._credentials.decoy(name)
        nonce = new_nonce(self._entropy.token(NONCE_BYTES))
        return Asked(ServerFirst(first, nonce, shown.salt, shown.iterations), name, secret)

    def finish(self, asked: Asked, token: bytes) -> Proven:
        """The proof of a client that was asked for it."""
        secret = asked.secret or self._credentials.decoy(asked.name)
        last_words = asked.said.check(token, secret)
        if asked.secret is None or self._credentials.current(asked.name) != asked.secret:
            raise _refusal()
        return Proven(asked.name, asked.secret, last_words)


def _plain(token: bytes) -> tuple[str, str]:
    """Name and password of `[for whom] NUL name NUL password`; nobody comes for somebody else."""
    try:
        parts = token.decode().split("\0")
    except UnicodeDecodeError:
        raise _refusal() from None
    if len(parts) != 3 or parts[0] not in ("", parts[1]):
        raise _refusal()
    return parts[1], parts[2]


def _name_of(name: str) -> str:
    """A name as users are kept by; empty for one that nobody can have."""
    try:
        return prepared_text(name)
    except ValueError:
        return ""


def _refusal() -> LakewardError:
    return ErrorCode.AUTHENTICATE.error("Authentication failed: the name or the password is wrong.")
