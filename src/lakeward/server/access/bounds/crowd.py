"""Crowd: how many may be here at once, in all and of one address."""

from __future__ import annotations

import ipaddress
from collections import Counter

from lakeward.server.access.bounds.failed_logins import origin_of


class Crowd:
    """Places that are taken and given back."""

    def __init__(self, places: int, places_per_address: int) -> None:
        self._places = places
        self._per_address = places_per_address
        self._taken: Counter[str] = Counter()
        self._all = 0

    def enter(self, address: str) -> str:
        """Take a place; why there is none, or nothing."""
        origin = origin_of(address)
        if self._all >= self._places:
            return f"{self._all} connections are open"
        if self._taken[origin] >= self._per_address and not _is_of_this_machine(origin):
            return f"{self._taken[origin]} connections of {origin} are open"
        self._taken[origin] += 1
        self._all += 1
        return ""

    def leave(self, address: str) -> None:
        """Give a place back."""
        origin = origin_of(address)
        self._all -= 1
        self._taken[origin] -= 1
        if not self._taken[origin]:
            del self._taken[origin]


def _is_of_this_machine(origin: str) -> bool:
    try:
        return ipaddress.ip_network(origin).network_address.is_loopback or origin == "::/64"
    except ValueError:
        return False
