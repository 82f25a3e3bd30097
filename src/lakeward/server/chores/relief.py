"""Relief: connections that hold on to memory which others need are closed, and that is reported."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection

from lakeward.options import server as rows
from lakeward.options.server_options import ServerOptions
from lakeward.rpc.buffer_pool import BufferPool
from lakeward.rpc.server_connection import ServerConnection
from lakeward.runtime.seldom import SeldomLog

_log = logging.getLogger(__name__)
#: While memory is short, a request must go on to arrive, and at no less than a rate.
_SILENCE_S = 3.0
_PATIENCE_S = 10.0
_BYTES_PER_S = 1 << 20
#: How long nothing of the answers may be read while memory for answers is short.
_UNREAD_S = 5.0


class Relief:
    """Looks at all connections now and then."""

    def __init__(
        self,
        options: ServerOptions,
        pool: BufferPool,
        connections: Collection[ServerConnection],
        now: Callable[[], float],
    ) -> None:
        self._pool = pool
        self._connections = connections
        self._now = now
        self._unread_max = options.get(rows.MAX_UNREAD_MEMORY)
        self._header_s = options.get(rows.HTTP_HEADER_TIMEOUT) / 1000
        self._stuck: dict[ServerConnection, tuple[int, float]] = {}
        self._told = SeldomLog(_log, now)

    def look(self) -> None:
        """Close whoever is in the way of others."""
        now = self._now()
        for connection in list(self._connections):
            if connection.is_http and now - connection.frame_at > self._header_s:
                self._close(connection, f"its HTTP request took more than {self._header_s:g} s")
            elif self._pool.is_short and connection.is_unfinished and self._is_slow(connection, now):
                self._close(
                    connection,
                    f"the rest of its request of {connection.awaited_bytes} bytes does not come, and memory for"
                    f" requests is short ('{rows.MAX_RECEIVE_MEMORY.key}')",
                )
        self._look_at_unread(now)

    def has_room(self, size: int) -> bool:
        """Whether an answer of this size may be made."""
        return self._unread() + size <= self._unread_max

    def _unread(self) -> int:
        return sum(connection.unread_bytes for connection in self._connections)

    @staticmethod
    def _is_slow(connection: ServerConnection, now: float) -> bool:
        allowed_s = _PATIENCE_S + connection.awaited_bytes / _BYTES_PER_S
        return now - connection.active_at > _SILENCE_S or now - connection.frame_at > allowed_s

    def _look_at_unread(self, now: float) -> None:
        if self._unread() <= self._unread_max:
            self._stuck.clear()
            return
        seen: dict[ServerConnection, tuple[int, float]] = {}
        for connection in list(self._connections):
            unread = connection.unread_bytes
            if not unread:
                continue
            before, since = self._stuck.get(connection, (unread, now))
            seen[connection] = (unread, since if unread >= before else now)
            if now - seen[connection][1] >= _UNREAD_S:
                self._close(
                    connection,
                    f"it does not read its answers, {unread} bytes of them, and memory for answers is short"
                    f" ('{rows.MAX_UNREAD_MEMORY.key}')",
                )
        self._stuck = seen

    def _close(self, connection: ServerConnection, why: str) -> None:
        self._told.warn(f"closed the connection of {connection.peer}: {why}")
        connection.abort()
