"""One HTTP request, with a bound of time."""

from __future__ import annotations

import http.client
import ssl
from collections.abc import Mapping
from typing import NamedTuple
from urllib.parse import urlsplit

TIMEOUT_S = 5.0
_SHOWN_CHARACTERS = 200
_ANSWER_BYTES_MAX = 64 << 10


class HttpRequest(NamedTuple):
    """What to ask for; headers may hold secrets, and are never shown."""

    method: str
    url: str
    body: bytes
    headers: Mapping[str, str]


def send(request: HttpRequest) -> None:
    """Ask, and take any 2xx for an answer; OSError says what else happened."""
    parts = urlsplit(request.url)
    host, port = parts.hostname or "", parts.port
    connection: http.client.HTTPConnection
    if parts.scheme == "https":
        context = ssl.create_default_context()
        connection = http.client.HTTPSConnection(host, port, timeout=TIMEOUT_S, context=context)
    else:
        connection = http.client.HTTPConnection(host, port, timeout=TIMEOUT_S)
    try:
        connection.request(request.method, parts.path or "/", request.body, dict(request.headers))
        answer = connection.getresponse()
        said = answer.read(_ANSWER_BYTES_MAX)
        if not 200 <= answer.status < 300:
            told = said.decode("utf-8", "replace").strip()[:_SHOWN_CHARACTERS]
            raise OSError(f"{request.url} answered {answer.status} {answer.reason}{': ' if told else ''}{told}")
    except (http.client.HTTPException, ValueError) as wrong:
        raise OSError(f"{request.url} does not answer as HTTP does: {type(wrong).__name__}") from wrong
    finally:
        connection.close()
