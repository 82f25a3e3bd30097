"""Tokens: had when needed, renewed in time or when refused, never shown."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping

import pytest

from lakeward.client.remote.access import RemoteAccess
from lakeward.errors import DeniedError, ErrorCode, LakewardError
from lakeward.protocol.messages.shared import PbKeyValue
from lakeward.protocol.messages.snapshot import GetFileSystemSecurityTokenResponse
from lakeward.runtime.clock import ManualClock

ROOT = "s3://bucket"
SECRET = "very-secret"
HOUR_MS = 3_600_000


class Server:
    """Hands out numbered tokens."""

    def __init__(self, clock: ManualClock) -> None:
        self.clock = clock
        self.asked = 0
        self.fails: LakewardError | None = None
        self.life_ms: int | None = HOUR_MS
        self.token: bytes | None = None

    async def ask(self) -> GetFileSystemSecurityTokenResponse:
        """A token."""
        await asyncio.sleep(0)
        if self.fails is not None:
            raise self.fails
        self.asked += 1
        keys = {"version": 1, "access_key_id": f"key{self.asked}", "access_key_secret": SECRET, "security_token": "s"}
        return GetFileSystemSecurityTokenResponse(
            schema="s3",
            token=json.dumps(keys).encode() if self.token is None else self.token,
            expiration_time=None if self.life_ms is None else self.clock.now_ms() + self.life_ms,
            addition_info=(
                PbKeyValue(key="fs.s3a.endpoint", value="http://inside:9000"),
                PbKeyValue(key="fs.s3a.path.style.access", value="true"),
            ),
        )


class Store:
    """Knows who may read."""

    def __init__(self, stores: Stores, settings: Mapping[str, str]) -> None:
        self.stores, self.settings = stores, settings

    async def get_range(self, path: str, start: int, end: int) -> bytes:
        """Bytes, or a refusal."""
        await asyncio.sleep(0)
        if self.settings.get("s3.access-key") in self.stores.refused:
            raise DeniedError(ErrorCode.STORAGE, f"{path} cannot be read.")
        return path.encode()[start:end]

    async def close(self) -> None:
        """Noted."""
        self.stores.closed += 1


class Stores:
    """Every store that was opened."""

    def __init__(self) -> None:
        self.opened: list[Store] = []
        self.refused: set[str | None] = set()
        self.closed = 0

    def open(self, root: str, settings: Mapping[str, str]) -> Store:
        """A store."""
        assert root == ROOT
        self.opened.append(Store(self, settings))
        return self.opened[-1]


@pytest.fixture
def clock() -> ManualClock:
    """A clock moved by hand."""
    return ManualClock()


@pytest.fixture
def server(clock: ManualClock) -> Server:
    """The server."""
    return Server(clock)


@pytest.fixture
def stores() -> Stores:
    """The stores."""
    return Stores()


def access_of(server: Server, stores: Stores, **options: str) -> RemoteAccess:
    """Access with options of the connection; underscores stand for dots, two for a dash."""
    named = {key.replace("__", "-").replace("_", "."): value for key, value in options.items()}
    return RemoteAccess(server.ask, named, clock=server.clock, open_=stores.open)  # type: ignore[arg-type]


async def test_a_token_is_asked_for_once_and_opens_one_store(server: Server, stores: Stores) -> None:
    """Many reads at the same time are one question."""
    access = access_of(server, stores)
    assert set(await asyncio.gather(*(access.read(ROOT, "path", 0, 2) for _ in range(9)))) == {b"pa"}
    assert (server.asked, len(stores.opened)) == (1, 1)
    assert stores.opened[0].settings == {
        "s3.access-key": "key1",
        "s3.secret-key": SECRET,
        "s3.session-token": "s",
        "s3.endpoint": "http://inside:9000",
        "s3.path-style-access": "true",
    }
    await access.close()
    assert stores.closed == 1


async def test_it_is_renewed_when_four_fifths_are_over(server: Server, stores: Stores) -> None:
    """So that no read meets its end."""
    access = access_of(server, stores)
    await access.read(ROOT, "p", 0, 1)
    server.clock.advance(int(HOUR_MS * 0.79))
    await access.read(ROOT, "p", 0, 1)
    assert server.asked == 1
    server.clock.advance(int(HOUR_MS * 0.02))
    await access.read(ROOT, "p", 0, 1)
    assert server.asked == 2
    assert stores.opened[1].settings["s3.access-key"] == "key2"
    assert stores.closed == 1


async def test_a_refusal_brings_a_new_token_once(server: Server, stores: Stores) -> None:
    """The keys may have been taken back early."""
    access = access_of(server, stores)
    await access.read(ROOT, "p", 0, 1)
    stores.refused.add("key1")
    assert set(await asyncio.gather(*(access.read(ROOT, "p", 0, 1) for _ in range(5)))) == {b"p"}
    assert server.asked == 2
    stores.refused |= {"key2", "key3"}
    with pytest.raises(DeniedError, match="refused too") as caught:
        await access.read(ROOT, "p", 0, 1)
    assert server.asked == 3
    assert SECRET not in str(caught.value)


async def test_a_token_still_good_is_used_while_the_server_gives_none(server: Server, stores: Stores) -> None:
    """A server that restarts does not stop reads; one that stays away does, with a sentence."""
    access = access_of(server, stores)
    await access.read(ROOT, "p", 0, 1)
    server.fails = ErrorCode.SECURITY_TOKEN.error("STS is down.")
    server.clock.advance(int(HOUR_MS * 0.9))
    assert await access.read(ROOT, "p", 0, 1) == b"p"
    server.clock.advance(int(HOUR_MS * 0.2))
    with pytest.raises(LakewardError, match=r"no access to s3://bucket: STS is down\. Give this client") as caught:
        await access.read(ROOT, "p", 0, 1)
    assert caught.value.code is ErrorCode.SECURITY_TOKEN
    server.fails = None
    assert await access.read(ROOT, "p", 0, 1) == b"p"


async def test_options_of_the_connection_win(server: Server, stores: Stores) -> None:
    """A client behind another network reaches the store by another name."""
    access = access_of(server, stores, fs_s3a_endpoint="http://outside:80")
    await access.read(ROOT, "p", 0, 1)
    assert stores.opened[0].settings["s3.endpoint"] == "http://outside:80"
    assert stores.opened[0].settings["s3.access-key"] == "key1"


async def test_with_keys_the_server_is_not_asked(server: Server, stores: Stores) -> None:
    """Whoever has keys needs no token; a refusal of them is told at once."""
    access = access_of(server, stores, fs_s3a_access_key="mine", s3_secret__key="mine too")
    await access.read(ROOT, "p", 0, 1)
    stores.refused.add("mine")
    with pytest.raises(DeniedError):
        await access.read(ROOT, "p", 0, 1)
    assert server.asked == 0


async def test_an_empty_token_means_none_is_needed(server: Server, stores: Stores) -> None:
    """The store may be open, or the machine may have a role of its own."""
    server.token, server.life_ms = b"", None
    access = access_of(server, stores)
    await access.read(ROOT, "p", 0, 1)
    assert "s3.access-key" not in stores.opened[0].settings


@pytest.mark.parametrize("token", [b"very-secret", b"[]", b'{"access_key_id": "very-secret"}', b"\xff\xfe"])
async def test_a_token_we_cannot_read_is_not_shown(server: Server, stores: Stores, token: bytes) -> None:
    """Not in the message, and not in what caused it."""
    server.token = token
    with pytest.raises(LakewardError, match="not in a form") as caught:
        await access_of(server, stores).read(ROOT, "p", 0, 1)
    seen: BaseException | None = caught.value
    while seen is not None:
        assert SECRET not in repr(seen)
        seen = seen.__cause__
