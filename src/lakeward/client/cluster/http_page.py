"""HttpPage: what a Lakeward server tells by HTTP on its port, asked with the login and encryption of other requests."""

from __future__ import annotations

import base64
import http.client
from contextlib import closing
from dataclasses import dataclass

from lakeward.errors import ErrorCode
from lakeward.options.authentication import PLAIN
from lakeward.rpc.client_security import ClientSecurity
from lakeward.rpc.login import Login

_OK, _NOT_FOUND = 200, 404
#: A page of ten thousand tables has a tenth of it; what is not a server of ours may send anything.
_BYTES_MAX = 64 << 20


@dataclass(frozen=True, slots=True)
class HttpPage:
    """An answer: its text, and whether it is the page."""

    status: int
    text: str

    @property
    def is_there(self) -> bool:
        """Whether the server has such a page and has told it."""
        return self.status == _OK

    @property
    def is_absent(self) -> bool:
        """Whether the server is one that has no such page."""
        return self.status == _NOT_FOUND


def read_page(host: str, port: int, path: str, security: ClientSecurity, timeout_s: float) -> HttpPage:
    """Ask for a page; NETWORK when what is there does not tell, AUTHENTICATE when the password would be seen."""
    login = {} if security.login is None else {"Authorization": _basic(security.login, security.tls is not None)}
    try:
        with closing(_connection(host, port, security, timeout_s)) as connection:
            connection.request("GET", path, headers=login)
            answer = connection.getresponse()
            return HttpPage(answer.status, answer.read(_BYTES_MAX).decode(errors="replace"))
    except (OSError, http.client.HTTPException) as wrong:
        why = str(wrong) or type(wrong).__name__
        raise ErrorCode.NETWORK.error(
            f"The server at {host}:{port} does not tell by HTTP: {why}. Is it a Lakeward server?"
        ) from wrong


def _connection(host: str, port: int, security: ClientSecurity, timeout_s: float) -> http.client.HTTPConnection:
    if security.tls is None:
        return http.client.HTTPConnection(host, port, timeout=timeout_s)
    return http.client.HTTPSConnection(host, port, timeout=timeout_s, context=security.tls.context())


def _basic(login: Login, is_encrypted: bool) -> str:
    """HTTP's way to log in, which sends the password as PLAIN does."""
    if login.mechanism != PLAIN and not is_encrypted:
        raise ErrorCode.AUTHENTICATE.error(
            f"HTTP would send the password, which {login.mechanism} is to avoid: use TLS, or PLAIN."
        )
    return f"Basic {base64.b64encode(f'{login.user}:{login.password.reveal()}'.encode()).decode()}"
