"""Changes: requests that change tables of others; those that would change the cluster's are refused."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from lakeward.client.blocking.sync import Connection
from lakeward.rest.catalog import RestCatalog
from lakeward.rest.others.requests import json_object
from lakeward.rest.protocol.bodies import read_body
from lakeward.rest.protocol.failures import forbidden, no_such_operation
from lakeward.rest.protocol.names import Namespace, TableName
from lakeward.rest.protocol.paths import NAMESPACE, NAMESPACES, TABLE, TABLES, asked_namespace, asked_table

_READ_ONLY = "this catalog reads tables that are tiered, and does not change them: write to the cluster"

Answer = Callable[[Request], Awaitable[Response]]
Ask = Callable[[Request, Callable[[Connection], Any]], Awaitable[Any]]


class Changes:
    """`ask` has work done with the connection of who asks."""

    def __init__(self, catalog: RestCatalog, ask: Ask) -> None:
        self._catalog = catalog
        self._ask = ask

    def routes(self) -> list[tuple[str, str, Answer]]:
        """Method, path and who answers."""
        others = self._catalog.others
        can = others is not None and others.writes
        done: list[tuple[str, str, Answer]] = [
            ("POST", NAMESPACES, self._create_namespace),
            ("DELETE", NAMESPACE, self._drop_namespace),
            ("POST", f"{NAMESPACE}/properties", self._change_namespace),
            ("POST", TABLES, self._create_table),
            ("POST", TABLE, self._commit),
            ("DELETE", TABLE, self._drop_table),
            ("POST", "/v1/tables/rename", self._rename),
            ("POST", "/v1/transactions/commit", self._commit_all),
        ]
        never = [f"{NAMESPACE}/register", f"{NAMESPACE}/views", "/v1/views/rename"]
        return [
            *((method, path, answer if can else self._refuse) for method, path, answer in done),
            *(("POST", path, self._refuse) for path in never),
        ]

    async def _create_namespace(self, request: Request) -> Response:
        told = json_object(await read_body(request))
        return JSONResponse(await self._ask(request, lambda conn: self._catalog.theirs.create_namespace(conn, told)))

    async def _drop_namespace(self, request: Request) -> Response:
        name = _database(asked_namespace(request))
        await self._ask(request, lambda conn: self._catalog.theirs.drop_namespace(conn, name))
        return Response(status_code=204)

    async def _change_namespace(self, request: Request) -> Response:
        name, told = _database(asked_namespace(request)), json_object(await read_body(request))
        found = await self._ask(request, lambda conn: self._catalog.theirs.change_namespace(conn, name, told))
        return JSONResponse(found)

    async def _create_table(self, request: Request) -> Response:
        name, told = _database(asked_namespace(request)), json_object(await read_body(request))
        vends = "vended-credentials" in request.headers.get("x-iceberg-access-delegation", "")
        made = await self._ask(request, lambda conn: self._catalog.create(conn, name, told, vends=vends))
        return Response(made.body("all"), media_type="application/json", headers={"etag": made.etag("all")})

    async def _commit(self, request: Request) -> Response:
        name, told = _as_committed(asked_table(request)), json_object(await read_body(request))
        made = await self._ask(request, lambda conn: self._catalog.commit(conn, name, told))
        return Response(made.body("all"), media_type="application/json", headers={"etag": made.etag("all")})

    async def _drop_table(self, request: Request) -> Response:
        name = _as_committed(asked_table(request))
        purges = request.query_params.get("purgeRequested", "false").lower() == "true"
        await self._ask(request, lambda conn: self._catalog.theirs.drop(conn, name.database, name.table, purges=purges))
        return Response(status_code=204)

    async def _rename(self, request: Request) -> Response:
        told = json_object(await read_body(request))
        await self._ask(request, lambda conn: self._catalog.theirs.rename(conn, told))
        return Response(status_code=204)

    async def _commit_all(self, request: Request) -> Response:
        told = json_object(await read_body(request))
        await self._ask(request, lambda conn: self._catalog.theirs.commit_all(conn, told))
        return Response(status_code=204)

    async def _refuse(self, request: Request) -> Response:
        await read_body(request)
        if "table" in request.path_params:
            name = asked_table(request)
            await self._ask(request, lambda conn: self._catalog.check_table(conn, name))
            raise forbidden(f"{name} cannot be changed here: {_READ_ONLY}.")
        raise no_such_operation(f"This is not done here: {_READ_ONLY}.")


def _database(namespace: Namespace) -> str:
    if namespace.is_now or namespace.database is None:
        raise forbidden(f"{namespace} has tables as they are now, which are changed in the cluster.")
    return namespace.database


def _as_committed(name: TableName) -> TableName:
    if name.is_now:
        raise forbidden(f"{name} is a table as it is now: it is changed in the cluster.")
    return name
