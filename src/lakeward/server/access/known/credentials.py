"""Credentials: who is known on a listener, and whether a password is theirs.

Users of the file come first, then those whom options name, whose passwords are hashed when they are first needed.
"""

from __future__ import annotations

import hmac
from collections.abc import Generator, Mapping
from functools import partial
from typing import Any

from lakeward.runtime.entropy import Entropy
from lakeward.runtime.scram import ITERATIONS, SALT_BYTES, ScramSecret
from lakeward.server.access.known.hashing import Hashing
from lakeward.server.access.known.users import Users

_HASH = "sha256"
_KEY_BYTES = 32


class Credentials:
    """Of one listener."""

    def __init__(self, users: Users, configured: Mapping[str, str], hashing: Hashing, entropy: Entropy) -> None:
        """`configured` is name → password."""
        self._users = users
        self._configured = configured
        self._hashing = hashing
        self._entropy = entropy
        self._hashed: dict[str, ScramSecret] = {}
        #: A key that nobody knows, for what must look like a hash and for passwords that were right a moment ago.
        self._key = entropy.token(_KEY_BYTES)
        self._proven: dict[str, tuple[ScramSecret, bytes]] = {}

    @property
    def is_empty(self) -> bool:
        """Whether nobody is known here."""
        return not self._configured and not len(self._users)

    def current(self, name: str) -> ScramSecret | None:
        """What is known of somebody's password now; None for somebody who is not known."""
        return self._users.secret_of(name) or self._hashed.get(name)

    def find(self, name: str) -> Generator[Any, None, ScramSecret | None]:
        """The same, after what was changed is taken, and hashed if need be."""
        self._users.look()
        if self.current(name) is None and name in self._configured:
            salt = self._entropy.token(SALT_BYTES)
            hashed = self._hashing.begin(partial(ScramSecret.of, self._configured[name], salt))
            yield hashed
            self._hashed[name] = hashed.result()
        return self.current(name)

    def decoy(self, name: str) -> ScramSecret:
        """A secret for somebody who is not known, always the same: nobody can ask who is."""
        seed = hmac.digest(self._key, name.encode(), _HASH)
        return ScramSecret(seed[:SALT_BYTES], ITERATIONS, self._key, self._key)

    def is_right(self, name: str, password: str) -> Generator[Any, None, bool]:
        """Whether a password is somebody's, which takes the same time for somebody who is not known.

        A client opens several connections. The second one need not be slow: that a password was right a moment ago is
        remembered as a keyed hash of it, in memory alone, for as long as the secret is the same.
        """
        secret = yield from self.find(name)
        seal = hmac.digest(self._key, password.encode(), _HASH)
        before = self._proven.get(name)
        if before is not None and before[0] == secret and hmac.compare_digest(before[1], seal):
            return True
        asked = self._hashing.begin(partial(_is_of, secret or self.decoy(name), password))
        yield asked
        if secret is None or not asked.result():
            return False
        self._proven[name] = secret, seal
        return True


def _is_of(secret: ScramSecret, password: str) -> bool:
    try:
        return secret.is_of(password)
    except ValueError:  # no password that anybody could have
        return False
