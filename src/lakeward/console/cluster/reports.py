"""Reports: what a Lakeward server tells by HTTP on the port of the protocol. An Apache Fluss cluster tells nothing."""

from __future__ import annotations

import asyncio
import base64
import http.client
import json
from collections.abc import Awaitable, Callable
from contextlib import closing
from typing import Any

from lakeward.client.cluster.cluster import addresses
from lakeward.client.cluster.remote_page import document_of
from lakeward.client.forms.settings import ClientSettings
from lakeward.client.tables.connection import AsyncConnection
from lakeward.console.cluster.metrics_text import MetricsText
from lakeward.errors import LakewardError
from lakeward.options.authentication import PLAIN
from lakeward.rpc.client_security import ClientSecurity

_TIMEOUT_S = 5
_OK = 200
_BYTES_MAX = 32 << 20


class Reports:
    """Asks servers for their pages, with the login and the encryption of all other requests."""

    def __init__(
        self, bootstrap: str, settings: ClientSettings, connect: Callable[[], Awaitable[AsyncConnection]]
    ) -> None:
        """`connect` gives the connection by which all servers are found."""
        self._connect = connect
        self._address = addresses(bootstrap)[0]
        self._security = settings.security

    async def health(self) -> dict[str, Any] | None:
        """What /health says; None where nobody says anything."""
        return await self._document("/health")

    async def remote(self, table: str = "") -> dict[str, Any] | None:
        """What /remote of all servers says, with the buckets of a table; None where nothing is copied, or nobody says
        anything."""
        try:
            page = await (await self._connect()).remote_page(table, _TIMEOUT_S)
        except (LakewardError, OSError):
            return None
        return dict(document_of(page.text) or {}) or None if page.is_there else None

    async def metrics(self) -> MetricsText | None:
        """What /metrics counts; None where nobody counts."""
        text = await self._text("/metrics")
        return None if text is None else MetricsText(text)

    async def _document(self, path: str) -> dict[str, Any] | None:
        text = await self._text(path)
        try:
            found = None if text is None else json.loads(text)
        except ValueError:
            return None
        return found if isinstance(found, dict) else None

    async def _text(self, path: str) -> str | None:
        return await asyncio.to_thread(_ask, self._address.host, self._address.port, path, self._security)


def _ask(host: str, port: int, path: str, security: ClientSecurity) -> str | None:
    """The page of a server; None for any reason why there is none, as a server that is no Lakeward has."""
    try:
        with closing(_connection(host, port, security)) as connection:
            connection.request("GET", path, headers=_login(security))
            answer = connection.getresponse()
            content = answer.read(_BYTES_MAX)
    except (OSError, ValueError, http.client.HTTPException):
        return None
    return content.decode(errors="replace") if answer.status == _OK else None


def _connection(host: str, port: int, security: ClientSecurity) -> http.client.HTTPConnection:
    if security.tls is None:
        return http.client.HTTPConnection(host, port, timeout=_TIMEOUT_S)
    return http.client.HTTPSConnection(host, port, timeout=_TIMEOUT_S, context=security.tls.context())


def _login(security: ClientSecurity) -> dict[str, str]:
    """HTTP's way to log in, which sends the password; where SCRAM was chosen to avoid just that, nobody is asked."""
    login = security.login
    if login is None or (login.mechanism != PLAIN and security.tls is None):
        return {}
    words = f"{login.user}:{login.password.reveal()}".encode()
    return {"Authorization": f"Basic {base64.b64encode(words).decode()}"}
