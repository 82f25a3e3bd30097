"""Credentials: keys to a store, and when they end; a source of them that renews in time.

Sources block while they ask; call them on a thread.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field

from lakeward.runtime.clock import Clock

_RENEW_BEFORE_MS = 5 * 60_000
_RENEW_SHARE = 5


@dataclass(frozen=True, slots=True)
class Credentials:
    """An access key and its secret; a session token and an end, where they are temporary."""

    access_key: str = field(repr=False)
    secret_key: str = field(repr=False)
    session_token: str | None = field(default=None, repr=False)
    expires_ms: int | None = None


#: Asks for credentials; a LakewardError says why there are none.
CredentialSource = Callable[[], Credentials]


class RenewedCredentials:
    """Keeps what a source gave until shortly before it ends: 5 minutes, or a fifth of a short life."""

    def __init__(self, source: CredentialSource, clock: Clock) -> None:
        self._source = source
        self._clock = clock
        self._lock = threading.Lock()
        self._kept: Credentials | None = None
        self._renew_ms = 0

    def __call__(self) -> Credentials:
        """Credentials that are good for a while."""
        with self._lock:
            now_ms = self._clock.now_ms()
            if self._kept is None or now_ms >= self._renew_ms:
                self._kept = self._source()
                self._renew_ms = renewal_ms(self._kept, now_ms)
            return self._kept


def renewal_ms(credentials: Credentials, now_ms: int) -> int:
    """When new ones should be asked for."""
    if credentials.expires_ms is None:
        return 1 << 62
    life_ms = max(0, credentials.expires_ms - now_ms)
    return credentials.expires_ms - min(_RENEW_BEFORE_MS, life_ms // _RENEW_SHARE)
