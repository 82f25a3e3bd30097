"""DirectLines: connections on which blocking code asks for one small thing and waits, on its own thread.

A question that goes through the event loop's thread wakes two threads more, on the way there and on the way back, which
takes longer than the server does. So who asks again and again for a row or two gets a line of its own.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections import defaultdict, deque
from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import contextmanager

from lakeward.client.cluster.direct_channel import DirectChannel
from lakeward.client.cluster.metadata_cache import Address
from lakeward.client.cluster.vigil import Vigil
from lakeward.client.forms.settings import ClientSettings
from lakeward.errors import LakewardError

#: A line is opened for who has asked a server so often; programs that ask once need none.
_WORTH_CALLS = 4
#: At most so many to one server: as many threads may ask at a time, others go through the event loop.
_LINES_MAX = 8
#: A server that let no line in is not asked for one again for so long.
_REST_S = 30.0
#: Lines are opened on threads that have other things to do.
_CONNECT_MS_MAX = 5_000
#: A server answers a write within its time-out, and says so if it could not; the wait here is a little longer.
_ANSWER_GRACE_MS = 5_000


class DirectLines:
    """Lines by address. `take` is for any thread, `open_wanted` for the event loop's."""

    def __init__(self, settings: ClientSettings, executor: Executor, vigil: Vigil) -> None:
        self._settings = settings
        self._vigil = vigil
        self._executor = executor
        self._idle: dict[Address, deque[DirectChannel]] = defaultdict(deque)
        self._missed: dict[Address, int] = {}
        self._open: dict[Address, int] = defaultdict(int)
        self._opening: set[asyncio.Task[None]] = set()
        self._rests_until_s = 0.0
        self._closed = False
        self._process = os.getpid()

    @contextmanager
    def take(self, address: Address | None) -> Iterator[DirectChannel | None]:
        """A line for one question; None where there is none, or none yet."""
        line = None if address is None else self._find(address)
        try:
            yield line
        finally:
            if line is not None:
                assert address is not None
                self._give_back(address, line)

    def _find(self, address: Address) -> DirectChannel | None:
        if os.getpid() != self._process:  # forked: the parent asks on the same lines, and would get our answers
            return None
        idle = self._idle[address]
        while True:
            try:
                line = idle.pop()
            except IndexError:  # not asked before: another thread may have taken the last one meanwhile
                self._missed[address] = self._missed.get(address, 0) + 1
                return None
            if not line.is_stale:
                return line
            line.close()
            self._give_back(address, line)

    def _give_back(self, address: Address, line: DirectChannel) -> None:
        if self._closed:
            line.close()
        if line.closed:
            self._open[address] -= 1
        else:
            self._idle[address].append(line)

    def open_wanted(self) -> None:
        """Open a line where one was looked for in vain, often enough; on the event loop."""
        if not self._missed or self._closed:
            return
        for address, times in list(self._missed.items()):
            if times >= _WORTH_CALLS and self._open[address] < _LINES_MAX and time.monotonic() > self._rests_until_s:
                self._missed.pop(address, None)
                self._open[address] += 1
                task = asyncio.get_running_loop().create_task(self._open_line(address))
                self._opening.add(task)
                task.add_done_callback(self._opening.discard)

    async def _open_line(self, address: Address) -> None:
        settings = self._settings
        try:
            line = await DirectChannel.open(
                address.host,
                address.port,
                settings.security,
                self._executor,
                connect_timeout_ms=min(settings.connect_timeout_ms, _CONNECT_MS_MAX),
                timeout_ms=settings.request_timeout_ms + _ANSWER_GRACE_MS,
                silence_ms=settings.silence_ms,
                is_given_up=self._vigil.asker(address),
            )
        except LakewardError:  # those who ask get there all the same, through the event loop, or hear why not
            self._open[address] -= 1
            self._rests_until_s = time.monotonic() + _REST_S
            return
        except BaseException:
            self._open[address] -= 1
            raise
        self._give_back(address, line)

    def close(self) -> None:
        """Hang up; a line that is in use is closed when it is given back."""
        self._closed = True
        for task in list(self._opening):
            task.cancel()
        for idle in self._idle.values():
            while idle:
                idle.pop().close()
