"""Connections that have logged in and say nothing: what each costs the server."""

from __future__ import annotations

import resource
import ssl
import sys
import tempfile
import time
from pathlib import Path

from bench.security.secured_work import serve
from bench.targets import Target

sys.path.append(str(Path(__file__).parents[2] / "tests" / "support"))
from logins import log_in
from wire_client import HELLO, WireClient

from lakeward.protocol.api import Api

_WARM = 200
_SPARE_FILES = 500
_SETTLE_S = 2.0


def idle_kb(way: str, count: int) -> float:
    """Kilobytes of resident memory that the server takes for each of many idle connections."""
    _allow_files(count + _SPARE_FILES)
    with tempfile.TemporaryDirectory(prefix="lakeward-certs-") as certs:
        target, door = serve(way, Path(certs), "-D", f"netty.server.max-connections={count + _SPARE_FILES}")
        context = None if way != "SASL_SSL" else ssl.create_default_context(cafile=f"{certs}/ca.pem")
        opened: list[WireClient] = []
        try:
            # What the first ones bring with them stays, however many follow.
            opened += [_come_in(door.bootstrap, way, context) for _ in range(_WARM)]
            before = _settled_mb(target)
            opened += [_come_in(door.bootstrap, way, context) for _ in range(count)]
            after = _settled_mb(target)
            opened[0].call(Api.API_VERSIONS, HELLO)  # the first and the last are still there
            opened[-1].call(Api.API_VERSIONS, HELLO)
        finally:
            for one in opened:
                one.close()
            target.stop()
    print(f"{count} idle connections, {way}: {before:.1f} MB → {after:.1f} MB", flush=True)
    return (after - before) * 1000 / count


def _come_in(bootstrap: str, way: str, context: ssl.SSLContext | None) -> WireClient:
    client = WireClient.of(bootstrap)
    if context is not None:
        client.socket = context.wrap_socket(client.socket, server_hostname="localhost")
    if way.startswith("SASL"):
        log_in(client, "alice", "alice-secret")
    else:
        client.call(Api.API_VERSIONS, HELLO)
    return client


def _settled_mb(target: Target) -> float:
    time.sleep(_SETTLE_S)
    return target.memory_mb()


def _allow_files(count: int) -> None:
    """Both ends are processes of their own; the server raises its own limit."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < count:
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(count, hard), hard))
