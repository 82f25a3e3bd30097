"""Crew: the tablet servers that a coordinator has started on this machine; whoever ends or hangs is started again."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine, Sequence
from typing import Any

from lakeward.errors import LakewardError
from lakeward.options.server_options import ServerOptions
from lakeward.rpc.channel import Channel
from lakeward.runtime.backoff import Backoff
from lakeward.runtime.entropy import Entropy
from lakeward.server.crew.crew_member import CrewMember
from lakeward.server.crew.pulse import BEATS, hangs
from lakeward.server.crew.tablet_options import tablet_texts
from lakeward.server.fleet.fleet import Fleet
from lakeward.server.node import Node

_log = logging.getLogger(__name__)
#: Whoever has lived so long has not failed to start.
_STEADY_S = 10.0
_STOP_S = 8.0


class Crew:
    """All of them."""

    def __init__(
        self, node: Node, fleet: Fleet, options: ServerOptions, command: Sequence[str], lock: int, entropy: Entropy
    ) -> None:
        """`command` starts a process that reads its brief from standard input; `lock` is the descriptor that holds the
        data directory."""
        self._backoff = Backoff(0.5, 10.0, entropy)
        self._node = node
        self._fleet = fleet
        self._options = options
        self._command = command
        self._lock = lock
        self._members: dict[int, CrewMember] = {}
        self._ports: dict[int, dict[str, int]] = {}
        self._gone: dict[int, asyncio.Event] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._is_stopping = False

    async def start(self) -> None:
        """Start all of them, side by side; if one cannot start, none stays."""
        fleet = self._fleet
        fleet.introduce({one.name: (one.told_host, one.port) for one in self._node.addresses})
        starts = [asyncio.ensure_future(self._start(number)) for number in range(fleet.size)]
        try:
            await asyncio.gather(*starts)
        except BaseException:
            for one in starts:
                one.cancel()
            await self.stop()
            raise
        for number in range(fleet.size):
            self._begin(self._keep(number))

    def _begin(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _start(self, number: int) -> None:
        texts = tablet_texts(self._options, number, self._fleet.size, self._ports.get(number, {}))
        member = CrewMember(number, texts, self._command, self._lock, self._node.identity)
        gone = self._gone[number] = asyncio.Event()
        self._members[number] = member
        member.on_end(asyncio.get_running_loop(), gone.set)
        listeners = await member.listeners()
        self._ports[number] = {name: port for name, (_, port) in listeners.items()}
        await self._node.front.take_server(member.questions)
        channel = await Channel.over(member.orders, f"tablet server {number}")
        self._begin(self._watch(member, channel, gone))
        await self._fleet.join(number, channel, listeners)
        _log.info("tablet server %d is there (process %d)", number, member.pid)

    async def _watch(self, member: CrewMember, channel: Channel, gone: asyncio.Event) -> None:
        """End a server that hangs, or whose line is gone: it would hear of nothing any more."""
        told = f"has not answered for {BEATS} seconds"
        if not await hangs(channel):  # most likely it has ended, and what kept it will tell
            told = "has hung up"
            await asyncio.wait([asyncio.ensure_future(gone.wait())], timeout=_STOP_S)
        if not self._is_stopping and not gone.is_set():
            _log.warning("tablet server %d %s; it is killed", member.server_id, told)
            member.kill()

    async def _keep(self, number: int) -> None:
        failures, loop = 0, asyncio.get_running_loop()
        begun = loop.time()
        while True:
            await self._gone[number].wait()
            if self._is_stopping:
                return
            self._fleet.leave(number)
            failures = 0 if loop.time() - begun > _STEADY_S else failures + 1
            pause_s = self._backoff.pause_s(failures) if failures > 1 else 0.0
            told = "tablet server %d has ended; its buckets wait until it is back, and it is started again"
            _log.warning(told, number)
            await asyncio.sleep(pause_s)
            begun = loop.time()
            try:
                await self._start(number)
            except LakewardError as wrong:
                _log.error("%s", wrong.message)
                self._members[number].kill()  # it may hang, and hear nothing gentler

    async def stop(self) -> list[int]:
        """End all of them; whoever does not want to is made to. Returns who could not stop in order."""
        self._is_stopping = True
        for member in self._members.values():
            member.stop()
        waits = [asyncio.ensure_future(self._gone[number].wait()) for number in self._members]
        if waits:
            _, late = await asyncio.wait(waits, timeout=_STOP_S)
            for wait in late:
                wait.cancel()
            if late:
                for member in self._members.values():
                    member.kill()
        for task in self._tasks:
            task.cancel()
        self._fleet.close()
        return [number for number, member in self._members.items() if member.has_failed]
