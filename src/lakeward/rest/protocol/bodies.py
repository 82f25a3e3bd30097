"""Bodies of requests, and no more of them than a body may have."""

from __future__ import annotations

from starlette.requests import Request

from lakeward.rest.protocol.failures import RestError

_BODY_MAX = 16 << 20


async def read_body(request: Request) -> bytes:
    """The body."""
    size, parts = 0, []
    async for part in request.stream():
        size += len(part)
        if size > _BODY_MAX:
            raise RestError(413, "BadRequestException", "The request is larger than this catalog takes.")
        parts.append(part)
    return b"".join(parts)
