"""GET_FILESYSTEM_SECURITY_TOKEN: what a client needs to read remote files itself.

A directory needs nothing; for S3 it is keys that end soon and can only read segments and snapshots (`s3_tokens`).
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from urllib.parse import urlsplit

from lakeward.errors import ErrorCode, LakewardError
from lakeward.options.server import REMOTE_DATA_DIR
from lakeward.options.server_options import ServerOptions
from lakeward.protocol.messages.snapshot import GetFileSystemSecurityTokenRequest, GetFileSystemSecurityTokenResponse
from lakeward.remote.open_store import S3_SCHEMES
from lakeward.rpc.dispatch import Exchange
from lakeward.runtime.clock import Clock
from lakeward.server.remote.access.s3_tokens import S3Tokens

_log = logging.getLogger(__name__)
_KEPT_S = 60.0
_FAILURE_KEPT_S = 5.0
_NO_TOKEN = GetFileSystemSecurityTokenResponse(schema="file", token=b"")


class SecurityTokens:
    """Answers with a token; one is kept for a minute and asked for once, however many want it."""

    def __init__(self, ask: Callable[[], GetFileSystemSecurityTokenResponse] | None, clock: Clock) -> None:
        """`ask` blocks, so it is called on a thread; None: no token is needed."""
        self._ask = ask
        self._clock = clock
        self._kept: GetFileSystemSecurityTokenResponse | LakewardError | None = None
        self._stale_s = 0.0
        self._asking: asyncio.Task[None] | None = None
        self._waiting: list[Exchange] = []

    @classmethod
    def of(cls, options: ServerOptions, clock: Clock) -> SecurityTokens:
        """For the store of `remote.data.dir`."""
        url = urlsplit(options.get(REMOTE_DATA_DIR) or "")
        if url.scheme not in S3_SCHEMES:
            return cls(None, clock)

        return cls(S3Tokens(url.scheme, url.netloc, url.path.strip("/"), options, clock), clock)

    def handle(
        self, _: GetFileSystemSecurityTokenRequest, exchange: Exchange
    ) -> GetFileSystemSecurityTokenResponse | None:
        """Answer now, or when the store has answered."""
        if self._ask is None:
            return _NO_TOKEN
        if self._kept is not None and self._clock.monotonic() < self._stale_s:
            return _token_or_raise(self._kept)
        self._waiting.append(exchange)
        if self._asking is None:
            self._asking = asyncio.create_task(self._renew(self._ask))
        return None

    async def _renew(self, ask: Callable[[], GetFileSystemSecurityTokenResponse]) -> None:
        try:
            self._kept = await asyncio.to_thread(ask)
            self._stale_s = self._clock.monotonic() + _KEPT_S
        except LakewardError as wrong:
            if not isinstance(self._kept, LakewardError):
                _log.warning("clients get no token for remote storage: %s", wrong.message)
            self._kept = ErrorCode.SECURITY_TOKEN.error(wrong.message)
            self._stale_s = self._clock.monotonic() + _FAILURE_KEPT_S
        finally:
            self._asking = None
        waiting, self._waiting = self._waiting, []
        for exchange in waiting:
            if isinstance(self._kept, LakewardError):
                exchange.fail(self._kept)
            else:
                exchange.reply(self._kept)


def _token_or_raise(kept: GetFileSystemSecurityTokenResponse | LakewardError) -> GetFileSystemSecurityTokenResponse:
    if isinstance(kept, LakewardError):
        raise ErrorCode.SECURITY_TOKEN.error(kept.message)
    return kept
