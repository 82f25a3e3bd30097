"""What a cluster tells a client of its: pages, options, tables, tiering, groups, rights."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from lakeward.client.blocking.groups import OFFSETS_TABLE
from lakeward.doctor.facts.samples import Samples
from lakeward.doctor.facts.tables import TieringFacts
from lakeward.doctor.look.lakes import look_at_lakes
from lakeward.doctor.look.look import Question
from lakeward.doctor.look.passwords import is_weak
from lakeward.doctor.look.port import reach
from lakeward.doctor.look.tables import look_at_groups, look_at_tables
from lakeward.errors import ErrorCode, LakewardError
from lakeward.runtime.clock import Clock
from lakeward.tiering.watch.status_table import STATUS_TABLE

if TYPE_CHECKING:
    from lakeward.client.cluster.http_page import HttpPage
    from lakeward.client.tables.connection import AsyncConnection

_NO_SERVER_OF_OURS = "the server does not tell by HTTP, as servers of Apache Fluss do not."


class ClusterLook:
    """Questions to a cluster, each of which answers with parts of the facts."""

    PARTS = (
        *("servers", "health", "clock_ahead_ms", "metrics", "remote", "options", "tables", "tiering", "groups", "acls"),
        *("lakes", "has_weak_password"),
    )

    def __init__(self, conn: AsyncConnection, clock: Clock, timeout_s: float) -> None:
        self._conn = conn
        self._clock = clock
        self._timeout_s = timeout_s

    def questions(self) -> dict[str, Question]:
        """By the parts that they answer."""
        return {
            "servers": self._servers,
            "health clock_ahead_ms": self._health,
            "metrics": self._metrics,
            "remote": self._remote,
            "options": self._options,
            "tables": self._tables,
            "tiering": self._tiering,
            "groups": self._groups,
            "acls": self._acls,
            "lakes": self._lakes,
            "has_weak_password": self._password,
        }

    async def _servers(self) -> Mapping[str, Any]:
        known = {(s.host, s.port): s for s in await self._conn.servers()}
        reached = await asyncio.gather(*(reach(server, self._timeout_s / 2) for server in known.values()))
        return {"servers": reached}

    async def _health(self) -> Mapping[str, Any]:
        asked_ms = self._clock.now_ms()
        document = json.loads((await self._page("/health")).text)
        answered_ms = self._clock.now_ms()
        found: dict[str, Any] = {"health": document}
        if "time_ms" in document:
            found["clock_ahead_ms"] = document["time_ms"] - (asked_ms + answered_ms) / 2
            found["clock_doubt_ms"] = (answered_ms - asked_ms) / 2
        return found

    async def _metrics(self) -> Mapping[str, Any]:
        return {"metrics": Samples.parse((await self._page("/metrics")).text)}

    async def _remote(self) -> Mapping[str, Any]:
        page = await self._conn.remote_page(timeout_s=self._timeout_s)
        if page.is_absent:
            return {"remote": {}}
        _check(page)
        return {"remote": json.loads(page.text)}

    async def _page(self, path: str) -> HttpPage:
        page = await self._conn.http_page(path, self._timeout_s)
        _check(page)
        return page

    async def _options(self) -> Mapping[str, Any]:
        options = await self._conn.cluster_options()
        return {"options": {option.key: option.value for option in options if option.value is not None}}

    async def _tables(self) -> Mapping[str, Any]:
        return await look_at_tables(self._conn, self._clock, self._timeout_s)

    async def _tiering(self) -> Mapping[str, Any]:
        known = [field.name for field in fields(TieringFacts)]
        rows = await self._rows(STATUS_TABLE)
        return {"tiering": {row["table_name"]: TieringFacts(**{name: row[name] for name in known}) for row in rows}}

    async def _groups(self) -> Mapping[str, Any]:
        return {"groups": await look_at_groups(self._conn, await self._rows(OFFSETS_TABLE))}

    async def _rows(self, table: str) -> list[dict[str, Any]]:
        """The rows of a table of ours; none where nobody has made it yet."""
        if not await self._conn.has_table(table):
            return []
        found = await (await self._conn.table(table)).snapshot()
        rows: list[dict[str, Any]] = found.to_pylist()
        return rows

    async def _acls(self) -> Mapping[str, Any]:
        try:
            return {"acls": await self._conn.acls.find()}
        except LakewardError as wrong:
            if wrong.code is not ErrorCode.SECURITY_DISABLED:
                raise
            return {"acls": []}

    async def _lakes(self) -> Mapping[str, Any]:
        return await look_at_lakes(self._conn)

    async def _password(self) -> Mapping[str, Any]:
        login = self._conn.security.login
        if login is None:
            return {"has_weak_password": False}
        return {"has_weak_password": is_weak(login.user, login.password.reveal())}


def _check(page: HttpPage) -> None:
    if not page.is_there:
        raise ErrorCode.NETWORK.error(page.text.strip() or _NO_SERVER_OF_OURS)
