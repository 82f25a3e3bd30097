"""How a client comes in, and how guessers do not."""

from __future__ import annotations

import asyncio
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest

from lakeward.errors import ErrorCode, LakewardError
from lakeward.runtime.clock import ManualClock
from lakeward.runtime.entropy import SeededEntropy
from lakeward.runtime.files.local_files import LocalFiles
from lakeward.runtime.scram import ScramClient, ScramKeys
from lakeward.server.access.known.users import new_user
from lakeward.server.access.known.users_file import USERS_FILE, write_users
from lakeward.sql_server.access.accounts import Accounts, Member
from lakeward.sql_server.access.guesses import Guesses
from lakeward.sql_server.access.proofs import Proofs
from lakeward.sql_server.postgres.codec import messages as m
from lakeward.sql_server.postgres.startup import Startup
from lakeward.sql_server.postgres.states import StateError
from lakeward.sql_server.postgres.wire import ClientMessage, Wire

ALICE = Member("alice", cast(Any, None), b"")


class FakeAccounts:
    """A cluster that asks for logins and believes what was proven."""

    def asks_login(self) -> bool:
        return True

    def log_in_proven(self, _user: str, _keys: ScramKeys) -> Member:
        return ALICE

    def log_in(self, _user: str, password: str) -> Member:
        if password != "alice-secret":
            raise ErrorCode.AUTHENTICATE.error()
        return ALICE


class FakeWire:
    """A client that says `first`, then answers what it was sent by the next of its script."""

    is_encrypted = False
    address = "10.0.0.1"

    def __init__(self, code: int, options: dict[str, str], answers: Iterator[bytes]) -> None:
        self.sent: list[bytes] = []
        self._code = code
        self._body = b"".join(m.text(part) for pair in options.items() for part in pair) + b"\0"
        self._answers = answers

    async def first(self) -> tuple[int, m.Body]:
        code, self._code = self._code, m.PROTOCOL_3
        return code, m.Body(self._body)

    async def next(self, _bytes_max: int = 0) -> ClientMessage:
        return ClientMessage("p", m.Body(next(self._answers)))

    async def send(self, data: bytes) -> None:
        self.sent.append(bytes(data))


def proving(password: str, wire: list[FakeWire]) -> Iterator[bytes]:
    """The two messages of a client that proves a password."""
    client = ScramClient("alice", password, "nonce")
    first = client.first()
    yield m.text("SCRAM-SHA-256") + struct.pack("!i", len(first)) + first
    yield client.final(wire[0].sent[-1][9:])


def knock(password: str, code: int = m.PROTOCOL_3) -> FakeWire:
    """One who comes to prove a password."""
    held: list[FakeWire] = []
    held.append(FakeWire(code, {"user": "alice"}, proving(password, held)))
    return held[0]


class World:
    """A door with proofs, whose pauses are written down."""

    def __init__(self, directory: Path | None) -> None:
        self.clock = ManualClock()
        self.pauses: list[float] = []
        self.cancelled: list[tuple[int, int]] = []
        proofs = None if directory is None else Proofs(directory, SeededEntropy(2))
        guesses = Guesses(self.clock.monotonic, self._sleep)
        accounts = cast(Accounts, FakeAccounts())
        self.startup = Startup(
            accounts, proofs, guesses, None, is_local=True, cancel=lambda *key: self.cancelled.append(key)
        )

    async def _sleep(self, seconds: float) -> None:
        self.pauses.append(seconds)

    async def let_in(self, wire: FakeWire) -> Member | None:
        found = await self.startup.let_in(cast(Wire, wire))
        return None if found is None else found.member


@pytest.fixture
def world(tmp_path: Path) -> World:
    """A door to a directory in which alice is known."""
    write_users(LocalFiles(), tmp_path / USERS_FILE, {"alice": new_user("alice-secret", SeededEntropy(1), 0)})
    return World(tmp_path)


async def test_who_proves_the_password_is_let_in(world: World) -> None:
    """Also behind a question for encryption that is answered with no."""
    wire = knock("alice-secret", m.SSL_REQUEST)
    assert await world.let_in(wire) is ALICE
    assert wire.sent[0] == b"N"
    assert wire.sent[-1] == m.authentication(0)
    assert world.pauses == []


async def test_guesses_are_answered_later_and_later_and_then_not_looked_at(world: World) -> None:
    """Even the right password is refused until the count has sunk; other addresses are not held up."""
    for _ in range(30):
        with pytest.raises(StateError) as refusal:
            await world.let_in(knock("wrong"))
        assert refusal.value.state == "28P01"
    assert world.pauses[:3] == [0.5, 1.0, 2.0]
    assert max(world.pauses) == 10.0
    with pytest.raises(LakewardError) as late:
        await world.let_in(knock("alice-secret"))
    assert late.value.code is ErrorCode.RETRIABLE_AUTHENTICATE
    other = knock("alice-secret")
    other.address = "10.0.0.2"
    assert await world.let_in(other) is ALICE
    world.clock.advance(60_000)
    assert await world.let_in(knock("alice-secret")) is ALICE


async def test_a_hundred_at_once_have_no_more_guesses_than_one_after_the_other(world: World) -> None:
    """All are asked before the first has failed; the count is looked at again before each proof."""
    wires = [knock("wrong") for _ in range(100)]
    told = await asyncio.gather(*map(world.let_in, wires), return_exceptions=True)
    assert sum(isinstance(one, StateError) for one in told) == 30
    late = [one.code for one in told if isinstance(one, LakewardError)]
    assert late == [ErrorCode.RETRIABLE_AUTHENTICATE] * 70


async def test_a_cancel_request_needs_no_login(world: World) -> None:
    """It shows two numbers, which are taken as they are."""
    wire = FakeWire(m.CANCEL_REQUEST, {}, iter(()))
    wire._body = struct.pack("!II", 7, 0xFFFFFFFF)
    assert await world.let_in(wire) is None
    assert world.cancelled == [(7, 0xFFFFFFFF)]


async def test_a_password_that_is_sent_is_shown_to_the_cluster(world: World) -> None:
    """Which counts the wrong ones itself."""
    door = World(None)
    assert await door.let_in(FakeWire(m.PROTOCOL_3, {"user": "alice"}, iter([b"alice-secret\0"]))) is ALICE
    with pytest.raises(StateError, match="authentication failed"):
        await door.let_in(FakeWire(m.PROTOCOL_3, {"user": "alice"}, iter([b"wrong\0"])))


@pytest.mark.parametrize("code", [0, 2 << 16, 4 << 16])
async def test_other_protocols_are_refused(world: World, code: int) -> None:
    """There is one version."""
    with pytest.raises(m.ProtocolError):
        await world.let_in(FakeWire(code, {"user": "alice"}, iter(())))
