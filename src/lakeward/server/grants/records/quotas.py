"""Quotas: how much one principal may ask for in a second. Whoever is over it waits; nobody is refused."""

from __future__ import annotations

from dataclasses import dataclass

from lakeward.model.principal import Principal
from lakeward.options import authorization as rows
from lakeward.options.server_options import ServerOptions

#: What was not used is saved up for so long: short bursts are no offence.
_SAVED_S = 1.0
#: Nobody waits longer than this for one request, however large it was.
_DEBT_S_MAX = 60.0


class TokenBucket:
    """Fills at a rate; what is taken beyond what is there is a debt, and debts take their time."""

    __slots__ = ("_at", "_level", "_rate")

    def __init__(self, rate: float, now: float) -> None:
        self._rate = rate
        self._at = now
        self._level = rate * _SAVED_S

    def take(self, amount: float, now: float) -> float:
        """Take so much; returns for how many seconds nothing more should be taken."""
        self._level = min(self._level + (now - self._at) * self._rate, self._rate * _SAVED_S)
        self._at = now
        self._level = max(self._level - amount, -self._rate * _DEBT_S_MAX)
        return max(0.0, -self._level / self._rate)


@dataclass(frozen=True, slots=True)
class Quota:
    """Rates of one principal; 0 is no limit."""

    bytes_per_s: int = 0
    requests_per_s: int = 0


class Quotas:
    """The quota of everybody, by the options in force."""

    def __init__(self, options: ServerOptions) -> None:
        self._default = Quota(options.get(rows.QUOTA_BYTES), options.get(rows.QUOTA_REQUESTS))
        self._bytes = options.get(rows.QUOTA_USERS_BYTES)
        self._requests = options.get(rows.QUOTA_USERS_REQUESTS)
        #: Whoever is called to put things right must get through.
        self._unlimited = options.get(rows.SUPER_USERS)

    def of(self, principal: Principal) -> Quota:
        """The quota of somebody."""
        if principal in self._unlimited:
            return Quota()
        return Quota(
            self._bytes.get(principal.name, self._default.bytes_per_s),
            self._requests.get(principal.name, self._default.requests_per_s),
        )
