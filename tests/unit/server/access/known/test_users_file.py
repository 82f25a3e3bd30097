"""The file of users: whole or not taken."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lakeward.errors import LakewardError
from lakeward.runtime.files.local_files import LocalFiles
from lakeward.runtime.files.memory_files import MemoryFiles
from lakeward.runtime.files.port import How
from lakeward.runtime.scram import ITERATIONS_MIN, ScramSecret
from lakeward.server.access.known.users_file import USERS_FILE, User, read_users, write_users

ALICE = User(ScramSecret.of("hush hush", b"0123456789abcdef", ITERATIONS_MIN), 1, 2)


def test_users_come_back_as_they_were(tmp_path: Path) -> None:
    """Names and secrets; without a file there is nobody."""
    path = tmp_path / USERS_FILE
    assert read_users(LocalFiles(), path) == {}
    write_users(LocalFiles(), path, {"alice": ALICE, "bob": ALICE.since(7)})
    found = read_users(LocalFiles(), path)
    assert found == {"alice": ALICE, "bob": User(ALICE.secret, 7, 2)}
    assert found["alice"].secret.is_of("hush hush")
    assert b"hush" not in path.read_bytes()


def test_a_file_of_others_is_not_taken(tmp_path: Path) -> None:
    """Whoever can read it can guess at leisure; whoever can write it can be anybody."""
    path = tmp_path / USERS_FILE
    write_users(LocalFiles(), path, {"alice": ALICE})
    path.chmod(0o620)
    with pytest.raises(LakewardError, match="chmod 600"):
        read_users(LocalFiles(), path)


def test_there_may_be_only_so_many(tmp_path: Path) -> None:
    """A file that grows for ever would be read for ever."""
    with pytest.raises(LakewardError, match="no more"):
        write_users(LocalFiles(), tmp_path / USERS_FILE, {f"user{n}": ALICE for n in range(10_001)})
    assert not (tmp_path / USERS_FILE).exists()


@given(st.data())
@settings(max_examples=200, deadline=None)
def test_a_damaged_file_is_never_half_taken(data: st.DataObject) -> None:
    """Cut off, or with a byte or a value that is another: it is refused in a sentence, or says the same as before."""
    files, path = MemoryFiles(), Path("/data") / USERS_FILE
    files.make_directory(path.parent)
    write_users(files, path, {"alice": ALICE})
    whole = files.read_bytes(path)
    if data.draw(st.booleans()):
        damaged = whole[: data.draw(st.integers(0, len(whole) - 1))]
    else:
        document = json.loads(whole)
        field = data.draw(st.sampled_from(["salt", "iterations", "stored_key", "server_key", "created_ms"]))
        odd = st.sampled_from([None, "", "!", 0, -1, 1 << 40, [], {}, "AAAA", True])
        document["users"]["alice"][field] = data.draw(odd)
        damaged = json.dumps(document).encode()
    file = files.open(path, How.EMPTY)
    file.pwrite(damaged, 0)
    file.close()
    try:
        found = read_users(files, path)
    except LakewardError:
        return
    assert list(found) == ["alice"]
    assert isinstance(found["alice"].created_ms, int)
    assert found["alice"].secret.salt
