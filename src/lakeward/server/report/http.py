"""Plain HTTP on the same port: is the server well, and what does it count?"""

from __future__ import annotations

from collections.abc import Callable

_REASONS = {200: "OK", 404: "Not Found", 405: "Method Not Allowed", 400: "Bad Request", 401: "Unauthorized"}
_LOGIN = 'WWW-Authenticate: Basic realm="lakeward", charset="UTF-8"\r\n'
_TEXT = "text/plain; charset=utf-8"
#: A text that takes longer to write is written again only after some times that long.
_QUICK_S = 0.002
_REST = 4
_PROMETHEUS = "text/plain; version=0.0.4; charset=utf-8"


def answer(
    request: bytes,
    *,
    health: Callable[[], str],
    metrics: Callable[[], str],
    remote: Callable[[], str] | None = None,
    is_stranger: bool = False,
) -> bytes:
    """A whole HTTP/1.1 answer; the connection is closed after it. A stranger is asked to log in."""
    line = request.split(b"\r\n", 1)[0].decode("latin-1").split(" ")
    if len(line) != 3 or not line[2].startswith("HTTP/"):
        return _response(400, "This port speaks the Fluss protocol, and HTTP for GET /health, /metrics and /remote.\n")
    method, target, _ = line
    path = target.split("?", 1)[0]
    if method not in {"GET", "HEAD"}:
        return _response(405, "Only GET is answered here.\n")
    body = method == "GET"
    if is_stranger:
        return _response(401, "Log in with the name and the password of a user.\n", body=body, more=_LOGIN)
    if path == "/health":
        return _response(200, health(), "application/json", body=body)
    if path == "/metrics":
        return _response(200, metrics(), _PROMETHEUS, body=body)
    if path == "/remote":
        if remote is None:
            return _response(404, "This server copies nothing to remote storage; set 'remote.data.dir'.\n", body=body)
        return _response(200, remote(), "application/json", body=body)
    return _response(404, f"There is no {path} here; try /health, /metrics or /remote.\n", body=body)


def _response(status: int, text: str, content_type: str = _TEXT, *, body: bool = True, more: str = "") -> bytes:
    content = text.encode()
    head = (
        f"HTTP/1.1 {status} {_REASONS[status]}\r\n{more}"
        f"Content-Type: {content_type}\r\nContent-Length: {len(content)}\r\nConnection: close\r\n\r\n"
    )
    return head.encode() + (content if body else b"")


class KeptText:
    """A text that is asked for again and again: one that is slow to write is kept for a moment."""

    def __init__(self, write: Callable[[], str], now: Callable[[], float]) -> None:
        """`now` tells seconds that never go back."""
        self._now = now
        self._write = write
        self._text = ""
        self._kept_until = 0.0

    def __call__(self) -> str:
        """The text, as it is now or was a moment ago."""
        begun = self._now()
        if begun >= self._kept_until:
            self._text = self._write()
            spent = self._now() - begun
            self._kept_until = begun + spent * (1 + _REST) if spent > _QUICK_S else begun
        return self._text
