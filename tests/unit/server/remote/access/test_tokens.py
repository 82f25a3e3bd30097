"""Tokens for clients: asked for once, kept a while."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from lakeward.errors import ErrorCode, LakewardError
from lakeward.options.server_options import ServerOptions
from lakeward.protocol.messages.snapshot import GetFileSystemSecurityTokenRequest, GetFileSystemSecurityTokenResponse
from lakeward.runtime.clock import ManualClock
from lakeward.server.remote.access.tokens import SecurityTokens

_ASKED = GetFileSystemSecurityTokenRequest()


class _Exchange:
    """Remembers its answer."""

    def __init__(self) -> None:
        self.answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()

    def reply(self, message: Any) -> None:
        self.answer.set_result(message)

    def fail(self, wrong: LakewardError) -> None:
        self.answer.set_result(wrong)


class _Store:
    """Gives tokens, or fails; counts."""

    def __init__(self) -> None:
        self.count = 0
        self.failure: LakewardError | None = None

    def __call__(self) -> GetFileSystemSecurityTokenResponse:
        self.count += 1
        if self.failure is not None:
            raise self.failure
        return GetFileSystemSecurityTokenResponse(schema="s3", token=f"{self.count}".encode())


async def _asked(tokens: SecurityTokens) -> Any:
    """The answer, now or later."""
    exchange = _Exchange()
    try:
        now = tokens.handle(_ASKED, exchange)  # type: ignore[arg-type]
    except LakewardError as wrong:
        return wrong
    return await exchange.answer if now is None else now


async def test_many_who_ask_at_once_cause_one_question() -> None:
    """A thousand scanners that start together are one call to STS."""
    store = _Store()
    tokens = SecurityTokens(store, ManualClock())
    answers = await asyncio.gather(*(_asked(tokens) for _ in range(20)))
    assert {answer.token for answer in answers} == {b"1"}
    assert store.count == 1


async def test_a_token_is_kept_for_a_minute() -> None:
    """As Apache Fluss keeps it."""
    store, clock = _Store(), ManualClock()
    tokens = SecurityTokens(store, clock)
    assert (await _asked(tokens)).token == b"1"
    clock.advance(59_999)
    assert (await _asked(tokens)).token == b"1"
    clock.advance(1)
    assert (await _asked(tokens)).token == b"2"


async def test_a_failure_is_kept_for_a_moment_and_said_once(caplog: pytest.LogCaptureFixture) -> None:
    """STS is not asked by everyone in vain, the log is not flooded, and all is well when STS is back."""
    store, clock = _Store(), ManualClock()
    tokens = SecurityTokens(store, clock)
    store.failure = ErrorCode.STORAGE.error("STS is away.")
    for _ in range(10):
        answer = await _asked(tokens)
        assert (answer.code, answer.message) == (ErrorCode.SECURITY_TOKEN, "STS is away.")
    assert store.count == 1
    clock.advance(5000)
    await _asked(tokens)
    assert store.count == 2
    assert [record.message for record in caplog.records] == ["clients get no token for remote storage: STS is away."]
    store.failure = None
    clock.advance(5000)
    assert (await _asked(tokens)).token == b"3"


@pytest.mark.parametrize("remote", [None, "/somewhere", "file:///somewhere"])
async def test_directories_need_no_token(remote: str | None, tmp_path: Path) -> None:
    """An empty one says so, at once."""
    options = ServerOptions.of(pairs=[] if remote is None else [f"remote.data.dir={remote}"])
    tokens = SecurityTokens.of(options, ManualClock())
    assert await _asked(tokens) == GetFileSystemSecurityTokenResponse(schema="file", token=b"")
