"""The catalog as a server: it takes its port, says where it is, and stops when it is told to."""

from __future__ import annotations

import signal
from collections.abc import Callable

import uvicorn

from lakeward.console.security.hosts import KnownHosts
from lakeward.errors import ErrorCode
from lakeward.rest.app import RestApp
from lakeward.rest.catalog import RestCatalog
from lakeward.rest.others.others import Others
from lakeward.rest.people.people import People
from lakeward.rest.settings import RestSettings
from lakeward.runtime.clock import SystemClock
from lakeward.runtime.entropy import SystemEntropy
from lakeward.runtime.process.public_port import check_openness, is_loopback, listen

_STOP_S = 3
_CONNECTIONS_MAX = 500
_HEADER_BYTES_MAX = 64 << 10


def run_catalog(settings: RestSettings, say: Callable[[str], None]) -> None:
    """Serve until somebody stops it; `say` is told where it is."""
    check_openness("The catalog", settings.bind, settings.options)
    check_others(settings)
    clock, entropy = SystemClock(), SystemEntropy()
    people = People(settings.bootstrap, settings.options, settings.lake, clock, entropy)
    others = None
    if settings.others != "none":
        others = Others(settings.lake, settings.others_for, entropy, writes=settings.others == "write")
    catalog = RestCatalog(settings.lake, settings.now, clock, entropy, others)
    app = RestApp(catalog, people, KnownHosts(settings.bind, settings.names)).build()
    config = uvicorn.Config(
        app,
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
    with listen(settings.bind, settings.port) as listener:
        say(_greeting(settings, listener.getsockname()[1]))
        server = uvicorn.Server(config)
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda _number, _frame: None)  # uvicorn hands the signal on when it has stopped
        server.run(sockets=[listener])


def check_others(settings: RestSettings) -> None:
    """Refuse to serve tables of others that nobody has said where they are."""
    if settings.others != "none" and not settings.lake:
        raise ErrorCode.INVALID_CONFIG.error("--others needs to know which lake they are in: --warehouse or --lake.")


def _greeting(settings: RestSettings, port: int) -> str:
    host = f"[{settings.bind}]" if ":" in settings.bind else settings.bind
    scheme = "https" if settings.encrypts else "http"
    lines = [f"The Iceberg catalog of {settings.bootstrap} is at {scheme}://{host}:{port}/"]
    if not is_loopback(settings.bind) and not settings.encrypts:
        lines.append("Without --certificate, passwords and tokens travel as they are.")
    return "\n".join(lines)
