"""Passwords that are proven and not sent."""

from __future__ import annotations

from pathlib import Path

import pytest

from lakeward.errors import ErrorCode, LakewardError
from lakeward.runtime.entropy import SeededEntropy
from lakeward.runtime.files.local_files import LocalFiles
from lakeward.runtime.scram import ScramClient
from lakeward.server.access.known.users import new_user
from lakeward.server.access.known.users_file import USERS_FILE, write_users
from lakeward.sql_server.access.proofs import Proofs


@pytest.fixture
def proofs(tmp_path: Path) -> Proofs:
    """A directory in which alice is known."""
    users = {"alice": new_user("alice-secret", SeededEntropy(1), 0)}
    write_users(LocalFiles(), tmp_path / USERS_FILE, users)
    return Proofs(tmp_path, SeededEntropy(2))


def test_a_right_proof_gives_the_keys_of_another_login(proofs: Proofs) -> None:
    """The client believes us, and a second server with the same secret believes the keys."""
    client = ScramClient("alice", "alice-secret", "nonce")
    exchange = proofs.begin("alice", client.first())
    proven = exchange.check(client.final(exchange.challenge))
    client.check(proven.answer)
    again = ScramClient("alice", proven.keys, "other")
    second = proofs.begin("alice", again.first())
    again.check(second.check(again.final(second.challenge)).answer)


@pytest.mark.parametrize(("user", "password"), [("alice", "wrong"), ("nobody", "alice-secret")])
def test_a_wrong_proof_and_a_name_that_is_not_known_are_the_same(proofs: Proofs, user: str, password: str) -> None:
    """Both are asked, twice with the same salt, and refused with the same error."""
    client = ScramClient(user, password, "nonce")
    exchange = proofs.begin(user, client.first())
    salt = exchange.challenge.partition(b",")[2]
    assert proofs.begin(user, client.first()).challenge.endswith(salt)
    with pytest.raises(LakewardError) as refusal:
        exchange.check(client.final(exchange.challenge))
    assert refusal.value.code is ErrorCode.AUTHENTICATE


@pytest.mark.parametrize("garbage", [b"", b"p=tls,,n=,r=x", b"n,,n=alice", b"\xff\xfe", b"n,,n=a,r=" + b"x" * 9000])
def test_garbage_is_an_error_of_logins(proofs: Proofs, garbage: bytes) -> None:
    """In the first message as in the second."""
    with pytest.raises(LakewardError) as refusal:
        proofs.begin("alice", garbage)
    assert refusal.value.code is ErrorCode.AUTHENTICATE
    exchange = proofs.begin("alice", ScramClient("alice", "x", "nonce").first())
    with pytest.raises(LakewardError) as refusal:
        exchange.check(garbage)
    assert refusal.value.code is ErrorCode.AUTHENTICATE
