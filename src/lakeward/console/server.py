"""The console as a server: it takes its port, says where it is, and stops when it is told to."""

from __future__ import annotations

import socket
from collections.abc import Callable
from dataclasses import replace

import uvicorn

from lakeward.console.app import build_app
from lakeward.console.frame.house import House
from lakeward.console.frame.settings import ConsoleSettings
from lakeward.console.pages.all_pages import all_pages
from lakeward.console.pages.ask.questions import QUESTIONS_MAX
from lakeward.query.duckdb.question.closed_session import DuckBounds, memory_of
from lakeward.runtime.clock import SystemClock
from lakeward.runtime.entropy import SystemEntropy
from lakeward.runtime.process.memory_limit import limit_memory
from lakeward.runtime.process.public_port import check_openness, is_loopback, listen
from lakeward.web.web_server import obey_signals, web_address, web_config

_STOP_S = 1


def run_console(settings: ConsoleSettings, say: Callable[[str], None]) -> None:
    """Serve until somebody stops it; `say` is told where it is."""
    check_openness("The console", settings.bind, settings.options)
    limit_memory(memory_of([DuckBounds()] * QUESTIONS_MAX))
    listener = listen(settings.bind, settings.port)
    port = listener.getsockname()[1]
    house = House.of(replace(settings, port=port), SystemClock(), SystemEntropy())
    app = build_app(house, all_pages())
    config = web_config(app, settings.certificate_file, settings.key_file, lifespan="on", stop_s=_STOP_S)
    say(_greeting(settings, port))
    with listener:
        _Server(config, house).run(sockets=[listener])


class _Server(uvicorn.Server):
    """Lets go of pages that listen as soon as it is told to stop; nothing is raised after that."""

    def __init__(self, config: uvicorn.Config, house: House) -> None:
        super().__init__(config)
        self._house = house
        obey_signals(self)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Stop."""
        self._house.closing.set()
        await super().shutdown(sockets)


def _greeting(settings: ConsoleSettings, port: int) -> str:
    address = web_address(settings.bind, port, encrypts=settings.encrypts)
    lines = [f"The console of {settings.bootstrap} is at {address}"]
    if not is_loopback(settings.bind):
        lines.append(
            f"Everybody who reaches {settings.bind} can open it. Where the cluster asks for no login, they can change "
            "what it has, unless --read-only is given."
        )
        if not settings.encrypts:
            lines.append("Without --certificate, passwords that are typed into it travel as they are.")
    return "\n".join(lines)
