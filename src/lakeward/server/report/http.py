"""Plain HTTP on the same port: is the server well, and what does it count?"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from urllib.parse import parse_qs

from lakeward.telemetry.prometheus_text import CONTENT_TYPE

_REASONS = {200: "OK", 404: "Not Found", 405: "Method Not Allowed", 400: "Bad Request", 401: "Unauthorized"}
_LOGIN = 'WWW-Authenticate: Basic realm="lakeward", charset="UTF-8"\r\n'
_TEXT = "text/plain; charset=utf-8"


def answer(
    request: bytes,
    *,
    health: Callable[[], str],
    metrics: Callable[[], asyncio.Future[str]],
    remote: Callable[[str], str] | None = None,
    is_stranger: bool = False,
) -> bytes | asyncio.Future[bytes]:
    """A whole HTTP/1.1 answer, now or later; the connection is closed after it. A stranger is asked to log in."""
    line = request.split(b"\r\n", 1)[0].decode("latin-1").split(" ")
    if len(line) != 3 or not line[2].startswith("HTTP/"):
        return _response(400, "This port speaks the Fluss protocol, and HTTP for GET /health, /metrics and /remote.\n")
    method, target, _ = line
    path, _, query = target.partition("?")
    if method not in {"GET", "HEAD"}:
        return _response(405, "Only GET is answered here.\n")
    body = method == "GET"
    if is_stranger:
        return _response(401, "Log in with the name and the password of a user.\n", body=body, more=_LOGIN)
    if path == "/health":
        return _response(200, health(), "application/json", body=body)
    if path == "/metrics":
        text = metrics()
        return asyncio.ensure_future(_later(text, body=body), loop=text.get_loop())
    if path == "/remote":
        if remote is None:
            return _response(404, "This server copies nothing to remote storage; set 'remote.data.dir'.\n", body=body)
        wanted = parse_qs(query).get("table", [""])[0]
        return _response(200, remote(wanted), "application/json", body=body)
    return _response(404, f"There is no {path} here; try /health, /metrics or /remote.\n", body=body)


async def _later(text: asyncio.Future[str], *, body: bool) -> bytes:
    return _response(200, await text, CONTENT_TYPE, body=body)


def _response(status: int, text: str, content_type: str = _TEXT, *, body: bool = True, more: str = "") -> bytes:
    content = text.encode()
    head = (
        f"HTTP/1.1 {status} {_REASONS[status]}\r\n{more}"
        f"Content-Type: {content_type}\r\nContent-Length: {len(content)}\r\nConnection: close\r\n\r\n"
    )
    return head.encode() + (content if body else b"")
