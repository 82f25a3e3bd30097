"""Logging in: what is sent, what is believed, and what is not."""

from __future__ import annotations

from pathlib import Path

import pytest

from lakeward.errors import DeniedError
from lakeward.rpc.login import Login
from lakeward.runtime import scram
from lakeward.runtime.entropy import SeededEntropy
from lakeward.runtime.secret_text import SecretText

_SALT = b"0123456789abcdef"


class ScramServer:
    """A server's end of SCRAM, for one user."""

    def __init__(self, password: str) -> None:
        self.secret = scram.ScramSecret.of(password, _SALT, scram.ITERATIONS_MIN)
        self.heard: list[bytes] = []
        self._first: scram.ServerFirst | None = None

    async def __call__(self, token: bytes) -> bytes | None:
        """Answer a token."""
        self.heard.append(token)
        if self._first is None:
            asked = scram.ClientFirst.read(token)
            self._first = scram.ServerFirst(asked, "theirs", _SALT, self.secret.iterations)
            return self._first.message
        return self._first.check(token, self.secret)


def login(mechanism: str, password: str = "alice-secret", user: str = "alice") -> Login:
    """Alice's."""
    return Login(mechanism, user, SecretText("password", password))


@pytest.mark.parametrize("challenge", [None, b""])
async def test_plain_sends_user_and_password_once(challenge: bytes | None) -> None:
    """Nothing and an empty challenge are the two ways in which servers say yes; neither is answered."""
    heard: list[bytes] = []

    async def say(token: bytes) -> bytes | None:
        heard.append(token)
        return challenge

    await login("PLAIN").prove(say)
    assert heard == [b"\0alice\0alice-secret"]


async def test_plain_takes_no_nul() -> None:
    """It would end the name or the password for the server."""

    async def say(token: bytes) -> bytes | None:
        raise AssertionError(token)

    with pytest.raises(DeniedError, match="NUL"):
        await login("PLAIN", "a\0b").prove(say)


async def test_scram_proves_a_password_without_sending_it() -> None:
    """Two messages, and in neither of them the password."""
    server = ScramServer("alice-secret")
    await login("SCRAM-SHA-256").prove(server, SeededEntropy(1))
    assert len(server.heard) == 2
    assert b"alice-secret" not in b"".join(server.heard)


async def test_every_login_has_a_nonce_of_its_own() -> None:
    """What was overheard once is worth nothing the next time."""
    one, two = ScramServer("alice-secret"), ScramServer("alice-secret")
    await login("SCRAM-SHA-256").prove(one)
    await login("SCRAM-SHA-256").prove(two)
    assert one.heard[0] != two.heard[0]


async def test_a_wrong_password_is_what_the_server_says() -> None:
    """Its error is passed on."""
    with pytest.raises(DeniedError):
        await login("SCRAM-SHA-256", "wrong").prove(ScramServer("alice-secret"))


@pytest.mark.parametrize("last", [None, b"", b"v=d3Jvbmc=", b"e=other-error", b"\xff"])
async def test_a_server_that_does_not_know_the_user_is_not_believed(last: bytes | None) -> None:
    """Whoever lets anybody in has not shown that it is the server: nothing is sent to it."""
    server = ScramServer("alice-secret")

    async def say(token: bytes) -> bytes | None:
        return await server(token) if not server.heard else last

    with pytest.raises(DeniedError):
        await login("SCRAM-SHA-256").prove(say)


@pytest.mark.parametrize("first", [None, b"", b"r=other,s=AA==,i=4096", b"x" * 10_000])
async def test_a_challenge_that_is_none_is_refused(first: bytes | None) -> None:
    """Faults of a server are errors, whatever they look like."""

    async def say(token: bytes) -> bytes | None:
        return first

    with pytest.raises(DeniedError):
        await login("SCRAM-SHA-256").prove(say)


async def test_the_password_is_looked_up_at_each_login(tmp_path: Path) -> None:
    """One that was changed in its file counts from the next connection on."""
    file = tmp_path / "pw"
    file.touch(0o600)
    heard: list[bytes] = []

    async def say(token: bytes) -> bytes | None:
        heard.append(token)
        return None

    alice = login("PLAIN", f"file:{file}")
    for password in ("old", "new"):
        file.write_text(password)
        await alice.prove(say)
    assert heard == [b"\0alice\0old", b"\0alice\0new"]


def test_a_login_is_shown_without_its_password() -> None:
    """What a log or a trace prints of it tells nothing."""
    assert "alice-secret" not in repr(login("PLAIN"))
