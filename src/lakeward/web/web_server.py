"""How our web servers run: the same bounds for the console, the catalog and the service that plans."""

from __future__ import annotations

import signal
from typing import Any, Literal

import uvicorn

_CONNECTIONS_MAX = 500
_HEADER_BYTES_MAX = 64 << 10


def web_config(
    app: Any, certificate_file: str | None, key_file: str | None, *, lifespan: Literal["on", "off"], stop_s: int
) -> uvicorn.Config:
    """What uvicorn is told: who may come, how many, and how long they are waited for at the end."""
    return uvicorn.Config(
        app,
        ssl_certfile=certificate_file,
        ssl_keyfile=key_file,
        proxy_headers=False,
        server_header=False,
        access_log=False,
        log_level="warning",
        lifespan=lifespan,
        ws="none",
        limit_concurrency=_CONNECTIONS_MAX,
        h11_max_incomplete_event_size=_HEADER_BYTES_MAX,
        timeout_graceful_shutdown=stop_s,
    )


def obey_signals(server: uvicorn.Server) -> None:
    """Ctrl-C and SIGTERM stop a server from now on, before it runs, too; what uvicorn hands on later does no harm."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, server.handle_exit)


def web_address(bind: str, port: int, *, encrypts: bool) -> str:
    """What somebody types into a browser."""
    host = f"[{bind}]" if ":" in bind else bind
    return f"{'https' if encrypts else 'http'}://{host}:{port}/"
