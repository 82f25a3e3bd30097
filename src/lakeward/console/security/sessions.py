"""Sessions: people who have logged in. What they typed stays in this process, and goes when they do."""

from __future__ import annotations

from dataclasses import dataclass

from lakeward.console.cluster.access import ClusterAccess
from lakeward.runtime.clock import Clock

#: Each has a connection to the cluster; with more, the one that was idle for the longest time goes.
_SESSIONS_MAX = 200


@dataclass(slots=True)
class Session:
    """Somebody who has logged in."""

    access: ClusterAccess
    seen_s: float


class Sessions:
    """Sessions by the cookie of their browser; one that nobody used for a while is gone."""

    def __init__(self, clock: Clock, idle_s: float) -> None:
        self._clock = clock
        self._idle_s = idle_s
        self._by_visitor: dict[str, Session] = {}

    async def begin(self, visitor: str, access: ClusterAccess) -> None:
        """Remember who a visitor is."""
        await self._sweep()
        if len(self._by_visitor) >= _SESSIONS_MAX:
            await self.end(min(self._by_visitor, key=lambda known: self._by_visitor[known].seen_s))
        self._by_visitor[visitor] = Session(access, self._clock.monotonic())

    async def find(self, visitor: str) -> ClusterAccess | None:
        """The way to the cluster of a visitor; None if they have not logged in, or have been away too long."""
        await self._sweep()
        session = self._by_visitor.get(visitor)
        if session is None:
            return None
        session.seen_s = self._clock.monotonic()
        return session.access

    async def end(self, visitor: str) -> None:
        """Forget a visitor; harmless when they are not known."""
        session = self._by_visitor.pop(visitor, None)
        if session is not None:
            await session.access.close()

    async def end_all(self) -> None:
        """Forget everybody."""
        for visitor in list(self._by_visitor):
            await self.end(visitor)

    async def _sweep(self) -> None:
        oldest = self._clock.monotonic() - self._idle_s
        for visitor in [known for known, session in self._by_visitor.items() if session.seen_s < oldest]:
            await self.end(visitor)
