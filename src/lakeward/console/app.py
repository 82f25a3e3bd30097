"""The application: pages behind the gate, the files of the package, and the error pages."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Receive, Scope, Send

from lakeward.console.frame.gate import Gate
from lakeward.console.frame.house import House
from lakeward.console.frame.page import Page
from lakeward.console.security.headers import SecurityHeaders
from lakeward.web.known_hosts import KnownHosts

_STATIC = Path(__file__).with_name("static")
_MISDIRECTED = 421


def build_app(house: House, pages: Sequence[Page]) -> Starlette:
    """An ASGI application that shows these pages."""
    gate = Gate(house, pages)

    @asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncIterator[None]:
        yield
        await house.close()

    routes = [Route(page.path, gate.endpoint(page), methods=[page.method]) for page in pages]
    return Starlette(
        routes=[*_by_method(routes), Mount("/static", StaticFiles(directory=_STATIC))],
        middleware=[Middleware(SecurityHeaders), Middleware(_HostCheck, hosts=house.hosts, gate=gate)],
        exception_handlers={HTTPException: gate.answer_exception, Exception: gate.answer_exception},
        lifespan=lifespan,
    )


def _by_method(routes: list[Route]) -> list[Route]:
    """Routes with fixed paths before those with names in them, so that `/tables/new` is no table."""
    return sorted(routes, key=lambda route: "{" in route.path)


class _HostCheck:
    """Refuses requests that name another host."""

    def __init__(self, app: ASGIApp, hosts: KnownHosts, gate: Gate) -> None:
        self._app = app
        self._hosts = hosts
        self._gate = gate

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let it pass, or answer that this is somebody else."""
        if scope["type"] == "http" and not self._hosts.has(Request(scope).headers.get("host", "")):
            answer = Response("The console does not answer to this name; --name adds names.\n", _MISDIRECTED)
            await answer(scope, receive, send)
            return
        await self._app(scope, receive, send)
