"""House: what all visits share. Settings, templates, who is logged in, and the console's own way to the cluster."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

from lakeward.console.cluster.access import ClusterAccess
from lakeward.console.frame.render import Templates
from lakeward.console.frame.settings import ConsoleSettings
from lakeward.console.security.sessions import Sessions
from lakeward.console.security.tokens import Tokens
from lakeward.runtime.clock import Clock
from lakeward.runtime.entropy import Entropy
from lakeward.web.known_hosts import KnownHosts

COOKIE = "lakeward_console"


@dataclass(slots=True)
class House:
    """One running console."""

    settings: ConsoleSettings
    clock: Clock
    templates: Templates
    access: ClusterAccess
    hosts: KnownHosts
    tokens: Tokens
    sessions: Sessions
    #: Set when the console stops: pages that listen are let go.
    closing: asyncio.Event = field(default_factory=asyncio.Event)
    #: Streams of events that are open.
    streams: int = 0

    @classmethod
    def of(cls, settings: ConsoleSettings, clock: Clock, entropy: Entropy) -> House:
        """A console by its settings."""
        return cls(
            settings=settings,
            clock=clock,
            templates=Templates(clock),
            access=ClusterAccess(settings.bootstrap, settings.options, settings.lake),
            hosts=KnownHosts(settings.bind, settings.names),
            tokens=Tokens(entropy),
            sessions=Sessions(clock, settings.idle_s),
        )

    @property
    def cookie(self) -> str:
        """The cookie's name: consoles on other ports of a machine have others, since ports do not part cookies."""
        return f"{COOKIE}_{self.settings.port}"

    async def close(self) -> None:
        """Let go of everything."""
        self.closing.set()
        await self.sessions.end_all()
        await self.access.close()
