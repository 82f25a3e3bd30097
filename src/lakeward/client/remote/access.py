"""RemoteAccess: object stores, opened with what the server hands out.

A client never needs the server's keys: GET_FILESYSTEM_SECURITY_TOKEN gives it a session of its own. It is asked for
when the first piece is read, again when four fifths of its life are over, and whenever a store refuses it. Options of
the connection (`s3.endpoint`, …) win over what the server says, for clients that reach the store by another way; with
keys among them the server is not asked at all.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from lakeward.errors import DeniedError, ErrorCode, LakewardError, RetriableError
from lakeward.options.remote_store import REMOTE_STORE_OPTIONS, S3_ACCESS_KEY
from lakeward.protocol.messages.snapshot import GetFileSystemSecurityTokenResponse
from lakeward.remote.open_store import open_store
from lakeward.runtime.clock import Clock, SystemClock

if TYPE_CHECKING:
    from lakeward.remote.stores.store import RemoteStore

_RENEWED_AT = 0.8
#: A token that says nothing of its end is asked for again after this long.
_UNENDING_S = 7 * 24 * 3600
_TRY_AGAIN_S = 30

Ask = Callable[[], Awaitable[GetFileSystemSecurityTokenResponse]]
Open = Callable[[str, Mapping[str, str]], "RemoteStore"]


@dataclass(eq=False)
class _Session:
    """What one token opened."""

    settings: Mapping[str, str] = field(repr=False)
    renew_at_s: float
    ends_at_s: float
    stores: dict[str, RemoteStore] = field(default_factory=dict)
    readers: int = 0


class RemoteAccess:
    """Reads objects by URL; tokens are had and renewed on the way."""

    def __init__(self, ask: Ask, options: Mapping[str, str], *, clock: Clock | None = None, open_: Open | None = None):
        self._ask = ask
        self._options = options
        self._clock = clock or SystemClock()
        self._open = open_ or _open_store
        self._session: _Session | None = None
        self._renewing = asyncio.Lock()

    def __repr__(self) -> str:
        return "RemoteAccess()"

    async def read(self, root: str, path: str, start: int, end: int) -> bytes:
        """A stretch of an object. A refusal is answered with a new token, once."""
        session = await self._current(root)
        try:
            return await self._read(session, root, path, start, end)
        except DeniedError as refused:
            if self._has_keys:
                raise
            renewed = await self._renew(root, session)
            try:
                return await self._read(renewed, root, path, start, end)
            except DeniedError as again:
                raise DeniedError(
                    again.code,
                    f"{again.message} The server's own token was refused too; look at its remote storage settings, or "
                    f"give this client s3.access-key and s3.secret-key.",
                ) from refused

    async def close(self) -> None:
        """Let go of the stores."""
        session, self._session = self._session, None
        if session is not None:
            await _close_stores(session)

    @property
    def _has_keys(self) -> bool:
        return any(REMOTE_STORE_OPTIONS.canonical_key(key) == S3_ACCESS_KEY.key for key in self._options)

    async def _read(self, session: _Session, root: str, path: str, start: int, end: int) -> bytes:
        store = session.stores.get(root)
        if store is None:
            store = session.stores[root] = self._open(root, session.settings)
        session.readers += 1
        try:
            return await store.get_range(path, start, end)
        finally:
            session.readers -= 1
            if session is not self._session and not session.readers:
                await _close_stores(session)

    async def _current(self, root: str) -> _Session:
        session = self._session
        if session is not None and self._clock.monotonic() < session.renew_at_s:
            return session
        return await self._renew(root, session)

    async def _renew(self, root: str, before: _Session | None) -> _Session:
        """A session after this one; several readers that want one get the same."""
        async with self._renewing:
            current = self._session
            if current is not None and current is not before:
                return current
            try:
                self._session = await self._ask_session(root)
            except LakewardError as wrong:
                now_s = self._clock.monotonic()
                if before is None or now_s >= before.ends_at_s:
                    code = wrong.code if isinstance(wrong, RetriableError) else ErrorCode.SECURITY_TOKEN
                    raise code.error(
                        f"The server gives no access to {root}: {wrong.message} Give this client s3.access-key and "
                        f"s3.secret-key, or mend the server's remote storage settings."
                    ) from wrong
                before.renew_at_s = min(now_s + _TRY_AGAIN_S, before.ends_at_s)
                return before
            if before is not None and not before.readers:
                await _close_stores(before)
            return self._session

    async def _ask_session(self, root: str) -> _Session:
        now_s = self._clock.monotonic()
        if self._has_keys:
            return _Session(_override({}, self._options), now_s + _UNENDING_S, now_s + _UNENDING_S)
        told = await self._ask()
        life_s: float = _UNENDING_S
        if told.expiration_time is not None:
            life_s = max((told.expiration_time - self._clock.now_ms()) / 1000, 0)
        settings = {pair.key: pair.value for pair in told.addition_info} | _credentials(root, bytes(told.token))
        return _Session(_override(settings, self._options), now_s + life_s * _RENEWED_AT, now_s + life_s)


def _credentials(root: str, token: bytes) -> dict[str, str]:
    """The keys of a token; an empty one means that none are needed."""
    if not token:
        return {}
    try:
        told = json.loads(token)
        found = {
            "s3.access-key": told["access_key_id"],
            "s3.secret-key": told["access_key_secret"],
            "s3.session-token": told.get("security_token"),
        }
    except (ValueError, KeyError, TypeError):
        # Not chained: the text of the first error would show the token.
        raise ErrorCode.SECURITY_TOKEN.error(
            f"its token for {urlsplit(root).scheme} is not in a form that this client knows."
        ) from None
    return {key: str(value) for key, value in found.items() if value}


def _override(told: Mapping[str, str], options: Mapping[str, str]) -> dict[str, str]:
    """The server's settings, but for those that the connection gives under any of their names."""
    canonical = REMOTE_STORE_OPTIONS.canonical
    return dict(canonical(*one) for one in told.items()) | dict(canonical(*one) for one in options.items())


async def _close_stores(session: _Session) -> None:
    stores, session.stores = session.stores, {}
    for store in stores.values():
        await store.close()


def _open_store(root: str, settings: Mapping[str, str]) -> RemoteStore:

    return open_store(root, settings)
