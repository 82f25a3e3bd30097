"""FailedLogins: wrong logins by address. Each is answered later than the one before; too many are not looked at."""

from __future__ import annotations

import ipaddress
import math
from collections.abc import Callable

from lakeward.runtime.backoff import Backoff

#: An attacker may have many addresses; whoever failed longest ago is forgotten first.
_ADDRESSES_MAX = 10_000
_PAUSE_MAX_S = 10.0
_MINUTE_S = 60.0
_V6_PREFIX = 64


class FailedLogins:
    """A count per address that sinks by itself, by the limit in a minute."""

    def __init__(self, now: Callable[[], float], per_minute: int, pause_s: float) -> None:
        self._now = now
        self._max = per_minute
        self._sinks_per_s = per_minute / _MINUTE_S
        self._pauses = Backoff(pause_s, max(_PAUSE_MAX_S, pause_s))
        self._counts: dict[str, tuple[float, float]] = {}

    def are_too_many(self, address: str) -> bool:
        """Whether logins of an address are not even looked at for a while: one more would be one too many."""
        return self._count(origin_of(address)) > self._max - 1

    def pause_s(self, address: str) -> float:
        """How long the answer to a login that failed takes."""
        return self._pauses.pause_s(math.ceil(self._count(origin_of(address))))

    def add(self, address: str) -> None:
        """One more."""
        origin = origin_of(address)
        count = self._count(origin) + 1
        self._counts.pop(origin, None)  # the newest stands last
        self._counts[origin] = count, self._now()
        if len(self._counts) > _ADDRESSES_MAX:
            del self._counts[next(iter(self._counts))]

    def _count(self, origin: str) -> float:
        count, at = self._counts.get(origin, (0.0, 0.0))
        return max(0.0, count - (self._now() - at) * self._sinks_per_s)


def origin_of(address: str) -> str:
    """Whose address it is: one of IPv6 is a network, of which its owner has all others, too."""
    try:
        found = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if isinstance(found, ipaddress.IPv4Address):
        return address
    if found.ipv4_mapped is not None:
        return str(found.ipv4_mapped)
    return str(ipaddress.ip_network((found, _V6_PREFIX), strict=False))
