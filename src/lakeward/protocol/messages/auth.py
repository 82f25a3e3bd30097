"""Authentication."""

from __future__ import annotations

from lakeward.protocol.codec.declare import f, message


@message
class AuthenticateRequest:
    """AUTHENTICATE (1038), asked."""

    protocol: str = f(1)
    token: bytes = f(2)


@message
class AuthenticateResponse:
    """AUTHENTICATE (1038), answered."""

    challenge: bytes | None = f(1, default=None)
