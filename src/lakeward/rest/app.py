"""The application: routes of the Iceberg REST protocol, and who answers them."""

from __future__ import annotations

import asyncio
import base64
import binascii
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from itertools import count
from typing import Any, TypeVar
from urllib.parse import parse_qs

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from lakeward.client.blocking.sync import Connection
from lakeward.errors import LakewardError
from lakeward.options.secrets import without_passwords
from lakeward.rest.catalog import RestCatalog
from lakeward.rest.changes import Changes
from lakeward.rest.people.people import TOKEN_LIFE_S, People
from lakeward.rest.protocol.bodies import read_body
from lakeward.rest.protocol.endpoints import READ_ENDPOINTS, WRITE_ENDPOINTS
from lakeward.rest.protocol.failures import RestError, bad_request, no_such_operation, no_view, rest_error
from lakeward.rest.protocol.names import SEPARATOR, Namespace, namespace_of
from lakeward.rest.protocol.paging import page_of
from lakeward.rest.protocol.paths import NAMESPACE, NAMESPACES, TABLE, TABLES, asked_namespace, asked_table
from lakeward.web.known_hosts import KnownHosts

T = TypeVar("T")
_log = logging.getLogger(__name__)
_SWEEP_MIN_S, _SWEEP_MAX_S = 0.2, 10.0
#: pyiceberg sends the second where it has none.
_NO_TOKENS = ("", "None")


class RestApp:
    """Answers requests; what waits for the cluster or the lake is done on threads."""

    def __init__(self, catalog: RestCatalog, people: People, hosts: KnownHosts) -> None:
        self._catalog = catalog
        self._people = people
        self._hosts = hosts
        writes = catalog.others is not None and catalog.others.writes
        self._endpoints = READ_ENDPOINTS + (WRITE_ENDPOINTS if writes else ())

    def build(self) -> Starlette:
        """The ASGI application."""
        routes = [
            self._route("GET", "/v1/config", self._config),
            self._route("POST", "/v1/oauth/tokens", self._tokens),
            self._route("GET", NAMESPACES, self._list_namespaces),
            self._route("HEAD", NAMESPACE, self._has_namespace),  # before GET, which would take it
            self._route("GET", NAMESPACE, self._load_namespace),
            self._route("GET", TABLES, self._list_tables),
            self._route("HEAD", TABLE, self._has_table),
            self._route("GET", TABLE, self._load_table),
            self._route("POST", f"{TABLE}/metrics", self._metrics),
            self._route("GET", f"{NAMESPACE}/views", self._no_views),
            self._route("GET", f"{NAMESPACE}/views/{{view}}", self._no_view),
            self._route("HEAD", f"{NAMESPACE}/views/{{view}}", self._no_view),
            *(self._route(*change) for change in Changes(self._catalog, self._ask).routes()),
        ]
        return Starlette(
            routes=routes, exception_handlers={Exception: _answer, HTTPException: _answer}, lifespan=self._life
        )

    def _route(self, method: str, path: str, answer: Callable[[Request], Awaitable[Response]]) -> Route:
        async def guard(request: Request) -> Response:
            try:
                if not self._hosts.has(request.headers.get("host", "")):
                    raise RestError(
                        421, "BadRequestException", "The catalog does not answer to this name; --name adds names."
                    )
                return await answer(request)
            except RestError as wrong:
                return _refusal(wrong, request)
            except LakewardError as wrong:
                return _refusal(rest_error(wrong), request)

        return Route(path, guard, methods=[method])

    @asynccontextmanager
    async def _life(self, _app: Starlette) -> AsyncIterator[None]:
        sweeping = asyncio.create_task(self._sweep())
        yield
        sweeping.cancel()
        with suppress(asyncio.CancelledError):
            await sweeping
        await run_in_threadpool(self._people.close)

    async def _sweep(self) -> None:
        """Remove, now and then, what nobody can read any more."""
        settings = self._catalog.now.settings
        pause_s = min(max(settings.keep_s / 10, _SWEEP_MIN_S), _SWEEP_MAX_S)
        # What a killed server has left is too young to be taken at first, and by then it is not.
        clear_every = max(1, round((settings.keep_s + settings.life_s) / pause_s))
        for turn in count():
            try:
                if turn % clear_every == 0:
                    await run_in_threadpool(self._clear)
                await run_in_threadpool(self._catalog.now.sweep)
            except Exception:  # noqa: BLE001 - what could not be removed now is removed the next time
                _log.exception("Old files could not be removed")
            await asyncio.sleep(pause_s)

    def _clear(self) -> None:
        with suppress(RestError, LakewardError):  # who may not look does not clear up; each table's first load does
            self._catalog.clear(self._people.own())

    # -- who, and what ------------------------------------------------------------------------------------------------

    async def _ask(self, request: Request, work: Callable[[Connection], T]) -> T:
        """Have work done with the connection of who asks."""
        kind, _, token = request.headers.get("authorization", "").partition(" ")

        def on_thread() -> T:
            has_token = kind.lower() == "bearer" and token.strip() not in _NO_TOKENS
            return work(self._people.of_token(token.strip()) if has_token else self._people.own())

        return await run_in_threadpool(on_thread)

    async def _config(self, _request: Request) -> Response:
        return JSONResponse({"defaults": {}, "overrides": {}, "endpoints": list(self._endpoints)})

    async def _tokens(self, request: Request) -> Response:
        form = {
            key: values[0] for key, values in parse_qs((await read_body(request)).decode("utf-8", "replace")).items()
        }
        try:
            token = await run_in_threadpool(self._token, form, request.headers.get("authorization", ""))
        except RestError as wrong:
            told = {"error": wrong.kind, "error_description": wrong.message}
            return JSONResponse(told, wrong.status, headers={"cache-control": "no-store"})
        answer: dict[str, Any] = {
            "access_token": token,
            "token_type": "bearer",
            "expires_in": TOKEN_LIFE_S,
            "issued_token_type": "urn:ietf:params:oauth:token-type:access_token",
        }
        return JSONResponse(answer, headers={"cache-control": "no-store"})

    def _token(self, form: dict[str, str], authorization: str) -> str:
        match form.get("grant_type"):
            case "client_credentials":
                user, password = form.get("client_id", ""), form.get("client_secret", "")
                if not user and authorization.lower().startswith("basic "):
                    user, password = _basic(authorization)
                return self._people.token_for(user, password)
            case "urn:ietf:params:oauth:grant-type:token-exchange":
                return self._people.exchange_token(form.get("subject_token", ""))
            case _:
                raise RestError(400, "unsupported_grant_type", "client_credentials and token-exchange are taken here.")

    # -- namespaces ---------------------------------------------------------------------------------------------------

    async def _list_namespaces(self, request: Request) -> Response:
        parent = request.query_params.get("parent")
        below = None if not parent else namespace_of(parent)
        found = await self._ask(request, lambda conn: self._catalog.namespaces(conn, below))
        page, token = page_of([SEPARATOR.join(levels) for levels in found], request.query_params)
        return _page({"namespaces": [name.split(SEPARATOR) for name in page]}, token)

    async def _load_namespace(self, request: Request) -> Response:
        namespace = await self._namespace(request)
        properties = await self._ask(request, lambda conn: self._catalog.properties(conn, namespace))
        return JSONResponse({"namespace": namespace.levels, "properties": properties})

    async def _has_namespace(self, request: Request) -> Response:
        await self._namespace(request)
        return Response(status_code=204)

    async def _namespace(self, request: Request) -> Namespace:
        namespace = asked_namespace(request)
        await self._ask(request, lambda conn: self._catalog.check_namespace(conn, namespace))
        return namespace

    # -- tables -------------------------------------------------------------------------------------------------------

    async def _list_tables(self, request: Request) -> Response:
        namespace = asked_namespace(request)
        page, token = await self._ask(request, lambda conn: self._catalog.tables(conn, namespace, request.query_params))
        return _page({"identifiers": [{"namespace": namespace.levels, "name": name} for name in page]}, token)

    async def _load_table(self, request: Request) -> Response:
        name = asked_table(request)
        snapshots = request.query_params.get("snapshots", "all")
        if snapshots not in {"all", "refs"}:
            raise bad_request("snapshots is 'all' or 'refs'.")
        vends = "vended-credentials" in request.headers.get("x-iceberg-access-delegation", "")
        loaded = await self._ask(request, lambda conn: self._catalog.load(conn, name, vends=vends))
        etag = loaded.etag(snapshots)
        if etag in [tag.strip() for tag in request.headers.get("if-none-match", "").split(",")]:
            return Response(status_code=304, headers={"etag": etag})
        return Response(loaded.body(snapshots), media_type="application/json", headers={"etag": etag})

    async def _has_table(self, request: Request) -> Response:
        name = asked_table(request)
        await self._ask(request, lambda conn: self._catalog.check_table(conn, name))
        return Response(status_code=204)

    async def _metrics(self, request: Request) -> Response:
        await read_body(request)
        return Response(status_code=204)

    # -- what is not done here ----------------------------------------------------------------------------------------

    async def _no_views(self, request: Request) -> Response:
        await self._namespace(request)
        raise no_such_operation("This catalog has no views.")

    async def _no_view(self, request: Request) -> Response:
        raise no_view(f"{namespace_of(request.path_params['namespace'])}.{request.path_params['view']}")


def _page(told: dict[str, Any], token: str | None) -> Response:
    return JSONResponse({**told, "next-page-token": token} if token is not None else told)


def _basic(authorization: str) -> tuple[str, str]:
    try:
        user, _, password = base64.b64decode(authorization[6:]).decode().partition(":")
    except (binascii.Error, ValueError):
        raise RestError(400, "invalid_request", "The header Authorization is not as Basic has it.") from None
    return user, password


def _refusal(wrong: RestError, request: Request) -> Response:
    headers = {"www-authenticate": "Bearer"} if wrong.status == 401 else None
    if request.method == "HEAD":
        return Response(status_code=wrong.status, headers=headers)
    return JSONResponse(wrong.to_json(), wrong.status, headers=headers)


async def _answer(request: Request, wrong: Exception) -> Response:
    """For what no handler has answered: an address that is not there, a bug."""
    if isinstance(wrong, HTTPException):
        kind = "NotFoundException" if wrong.status_code == 404 else "UnsupportedOperationException"
        return _refusal(RestError(wrong.status_code, kind, f"Nothing is answered here: {request.url.path}"), request)
    _log.error("%s", without_passwords(f"{type(wrong).__name__}: {wrong}"))
    return _refusal(RestError(500, "InternalServerError", "The catalog met an error; its log says more."), request)
