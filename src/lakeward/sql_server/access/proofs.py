"""Proofs: people show that they know their password without sending it, to us as to the cluster.

The file of users says how a proof is checked; from a right one we learn the keys by which the same person logs in at
the cluster (docs/decisions/0055). Somebody who is not in the file is asked all the same, and then refused.
"""

from __future__ import annotations

import hmac
from dataclasses import dataclass
from pathlib import Path
from threading import Lock

from lakeward.errors import ErrorCode
from lakeward.runtime.entropy import Entropy
from lakeward.runtime.files.local_files import LocalFiles
from lakeward.runtime.scram import (
    ITERATIONS,
    NONCE_BYTES,
    SALT_BYTES,
    ClientFirst,
    ScramKeys,
    ScramSecret,
    ServerFirst,
    new_nonce,
)
from lakeward.server.access.known.users import Users


@dataclass(frozen=True, slots=True)
class Proven:
    """The last word to a client, and the keys of its password."""

    answer: bytes
    keys: ScramKeys


class Exchange:
    """One login under way."""

    def __init__(self, first: ServerFirst, secret: ScramSecret, is_known: bool) -> None:
        self.challenge = first.message
        self._first = first
        self._secret = secret
        self._is_known = is_known

    def check(self, client_final: bytes) -> Proven:
        """What a right proof comes to; AUTHENTICATE for any other."""
        answer, keys = self._first.proven(client_final, self._secret)
        if not self._is_known:
            raise ErrorCode.AUTHENTICATE.error()
        return Proven(answer, keys)


class Proofs:
    """The users of a data directory, as their file has them now. Safe to share between threads."""

    def __init__(self, directory: Path, entropy: Entropy) -> None:
        self._users = Users(LocalFiles(), directory)
        self._entropy = entropy
        self._key = entropy.token(32)
        self._lock = Lock()

    def begin(self, user: str, client_first: bytes) -> Exchange:
        """The challenge for somebody who says who they are."""
        with self._lock:
            self._users.look()
            found = self._users.secret_of(user)
        secret = found or self._decoy(user)
        nonce = new_nonce(self._entropy.token(NONCE_BYTES))
        first = ServerFirst(ClientFirst.read(client_first, user), nonce, secret.salt, secret.iterations)
        return Exchange(first, secret, found is not None)

    def _decoy(self, user: str) -> ScramSecret:
        """For somebody who is not known, always the same: nobody can ask who is."""
        seed = hmac.digest(self._key, user.encode(), "sha256")
        return ScramSecret(seed[:SALT_BYTES], ITERATIONS, self._key, self._key)
