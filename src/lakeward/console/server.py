"""The console as a server: it takes its port, says where it is, and stops when it is told to."""

from __future__ import annotations

import errno
import signal
import socket
from collections.abc import Callable
from dataclasses import replace

import uvicorn

from lakeward.console.app import build_app
from lakeward.console.frame.house import House
from lakeward.console.frame.settings import ConsoleSettings
from lakeward.console.pages.all_pages import all_pages
from lakeward.console.security.hosts import is_loopback
from lakeward.errors import ErrorCode
from lakeward.options import client as rows
from lakeward.runtime.clock import SystemClock
from lakeward.runtime.entropy import SystemEntropy

_BACKLOG = 128
_STOP_S = 1
_CONNECTIONS_MAX = 500
_HEADER_BYTES_MAX = 64 << 10


def run_console(settings: ConsoleSettings, say: Callable[[str], None]) -> None:
    """Serve until somebody stops it; `say` is told where it is."""
    check_openness(settings)
    listener = listen(settings.bind, settings.port)
    port = listener.getsockname()[1]
    house = House.of(replace(settings, port=port), SystemClock(), SystemEntropy())
    config = uvicorn.Config(
        build_app(house, all_pages()),
        ssl_certfile=settings.certificate_file,
        ssl_keyfile=settings.key_file,
        proxy_headers=False,
        server_header=False,
        access_log=False,
        log_level="warning",
        lifespan="on",
        ws="none",
        limit_concurrency=_CONNECTIONS_MAX,
        h11_max_incomplete_event_size=_HEADER_BYTES_MAX,
        timeout_graceful_shutdown=_STOP_S,
    )
    say(_greeting(settings, port))
    with listener:
        _Server(config, house).run(sockets=[listener])


class _Server(uvicorn.Server):
    """Lets go of pages that listen as soon as it is told to stop; nothing is raised after that."""

    def __init__(self, config: uvicorn.Config, house: House) -> None:
        super().__init__(config)
        self._house = house
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda _number, _frame: None)  # uvicorn hands the signal on when it has stopped

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Stop."""
        self._house.closing.set()
        await super().shutdown(sockets)


def check_openness(settings: ConsoleSettings) -> None:
    """Refuse to lend the console's own login to a whole network."""
    has_login = rows.SASL_USERNAME.key in settings.options or rows.SASL_JAAS.key in settings.options
    if has_login and not is_loopback(settings.bind):
        raise ErrorCode.INVALID_CONFIG.error(
            f"The console would act as its own user for everybody who reaches {settings.bind}. Leave --user out, so "
            "that each person logs in, or listen on 127.0.0.1."
        )


def listen(bind: str, port: int) -> socket.socket:
    """A socket on an address of this machine; says which one is taken or is not ours."""
    try:
        family, _, _, _, address = socket.getaddrinfo(bind, port, type=socket.SOCK_STREAM)[0]
    except OSError as wrong:
        raise ErrorCode.INVALID_CONFIG.error(f"'{bind}' is no address of this machine: {wrong.strerror}.") from None
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind(address)
        listener.listen(_BACKLOG)
    except OSError as wrong:
        listener.close()
        why = "is taken; choose another with --port" if wrong.errno == errno.EADDRINUSE else f"failed: {wrong.strerror}"
        raise ErrorCode.INVALID_CONFIG.error(f"Port {port} of {bind} {why}.") from None
    return listener


def _greeting(settings: ConsoleSettings, port: int) -> str:
    host = f"[{settings.bind}]" if ":" in settings.bind else settings.bind
    scheme = "https" if settings.encrypts else "http"
    lines = [f"The console of {settings.bootstrap} is at {scheme}://{host}:{port}/"]
    if not is_loopback(settings.bind):
        lines.append(
            f"Everybody who reaches {settings.bind} can open it. Where the cluster asks for no login, they can change "
            "what it has, unless --read-only is given."
        )
        if not settings.encrypts:
            lines.append("Without --certificate, passwords that are typed into it travel as they are.")
    return "\n".join(lines)
