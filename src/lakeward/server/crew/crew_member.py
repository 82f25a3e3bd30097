"""CrewMember: one tablet server as its parent sees it: a process, and the parent's ends of two connections."""

from __future__ import annotations

import asyncio
import json
import socket
import subprocess
import threading
from collections.abc import Callable, Sequence
from typing import Any

from lakeward.errors import ErrorCode
from lakeward.runtime.process.child import Child
from lakeward.server.crew.tablet_life import TabletBrief

#: How long a tablet server may take until it listens.
_START_S = 60.0


class CrewMember:
    """A process that was started, and may have ended."""

    def __init__(
        self, server_id: int, settings: dict[str, str], command: Sequence[str], lock: int, identity: str | None
    ) -> None:
        """`lock` is the descriptor that holds the data directory: it is held until the last child has ended."""
        self.server_id = server_id
        self.orders, orders = socket.socketpair()
        self.questions, questions = socket.socketpair()
        with orders, questions:
            numbers = (orders.fileno(), questions.fileno())
            self._process = Child(
                list(command), stdin=subprocess.PIPE, stdout=subprocess.PIPE, pass_fds=(*numbers, lock)
            )
        for mine in (self.orders, self.questions):
            mine.settimeout(0)
        brief = TabletBrief(server_id, settings, *numbers, identity)
        assert self._process.stdin is not None
        with self._process.stdin as line:
            line.write(brief.text().encode())

    @property
    def pid(self) -> int:
        """The number of the process."""
        return self._process.pid

    @property
    def has_failed(self) -> bool:
        """Whether it ended by an error of its own; whoever was killed has lost nothing that was acknowledged."""
        return (self._process.returncode or 0) > 0

    def on_end(self, loop: asyncio.AbstractEventLoop, act: Callable[[], None]) -> None:
        """Hear of its end."""

        def wait() -> None:
            self._process.wait()
            loop.call_soon_threadsafe(act)

        threading.Thread(target=wait, name=f"tablet-{self.server_id}", daemon=True).start()

    async def listeners(self) -> dict[str, tuple[str, int]]:
        """Where it listens, as soon as it does; an error says why it does not."""
        try:
            async with asyncio.timeout(_START_S):
                told = await asyncio.to_thread(self._first_line)
        except TimeoutError as wrong:
            self.kill()
            raise ErrorCode.UNKNOWN_SERVER_ERROR.error(
                f"Tablet server {self.server_id} did not start within {_START_S:g} s."
            ) from wrong
        if "listeners" not in told:
            why = told.get("failed", "its process ended; the log above says why.")
            raise ErrorCode.INVALID_CONFIG.error(f"Tablet server {self.server_id} cannot start: {why}")
        return {name: (host, port) for name, (host, port) in told["listeners"].items()}

    def _first_line(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        found: dict[str, Any] = json.loads(line) if line else {}
        return found

    def stop(self) -> None:
        """Ask it to end."""
        self._process.terminate()

    def kill(self) -> None:
        """End it."""
        self._process.kill()

    def close(self) -> None:
        """Let go of the parent's ends."""
        for mine in (self.orders, self.questions):
            mine.close()
