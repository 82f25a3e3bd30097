"""The catalog as a server: it takes its port, says where it is, and stops when it is told to."""

from __future__ import annotations

from collections.abc import Callable

import uvicorn

from lakeward.errors import ErrorCode
from lakeward.rest.app import RestApp
from lakeward.rest.catalog import RestCatalog
from lakeward.rest.others.others import Others
from lakeward.rest.people.people import People
from lakeward.rest.settings import RestSettings
from lakeward.runtime.clock import SystemClock
from lakeward.runtime.entropy import SystemEntropy
from lakeward.runtime.process.public_port import check_openness, is_loopback, listen
from lakeward.web.known_hosts import KnownHosts
from lakeward.web.web_server import obey_signals, web_address, web_config

_STOP_S = 3


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
    config = web_config(app, settings.certificate_file, settings.key_file, lifespan="on", stop_s=_STOP_S)
    with listen(settings.bind, settings.port) as listener:
        say(_greeting(settings, listener.getsockname()[1]))
        server = uvicorn.Server(config)
        obey_signals(server)
        server.run(sockets=[listener])


def check_others(settings: RestSettings) -> None:
    """Refuse to serve tables of others that nobody has said where they are."""
    if settings.others != "none" and not settings.lake:
        raise ErrorCode.INVALID_CONFIG.error("--others needs to know which lake they are in: --warehouse or --lake.")


def _greeting(settings: RestSettings, port: int) -> str:
    address = web_address(settings.bind, port, encrypts=settings.encrypts)
    lines = [f"The Iceberg catalog of {settings.bootstrap} is at {address}"]
    if not is_loopback(settings.bind) and not settings.encrypts:
        lines.append("Without --certificate, passwords and tokens travel as they are.")
    return "\n".join(lines)
