"""Users as their file has them now."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from lakeward.runtime.clock import ManualClock
from lakeward.runtime.entropy import SeededEntropy
from lakeward.runtime.files.local_files import LocalFiles
from lakeward.server.access.known.users import Users, new_user
from lakeward.server.access.known.users_file import USERS_FILE, write_users


def write(directory: Path, **passwords: str) -> None:
    """What `lakeward users` does."""
    users = {name: new_user(password, SeededEntropy(1), 1) for name, password in passwords.items()}
    write_users(LocalFiles(), directory / USERS_FILE, users)


def test_a_change_is_seen_at_the_next_look(tmp_path: Path) -> None:
    """Not before, and only once."""
    users = Users(LocalFiles(), tmp_path)
    assert len(users) == 0
    write(tmp_path, alice="hush hush")
    assert users.secret_of("alice") is None
    assert users.look()
    assert not users.look()
    secret = users.secret_of("alice")
    assert secret is not None
    assert secret.is_of("hush hush")
    (tmp_path / USERS_FILE).unlink()
    assert users.look()
    assert users.secret_of("alice") is None


def test_a_file_that_cannot_be_trusted_changes_nothing(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """It is reported once; when it is mended, also by its mode alone, it is taken."""
    write(tmp_path, alice="hush hush")
    users = Users(LocalFiles(), tmp_path)
    write(tmp_path, bob="hush hush")
    (tmp_path / USERS_FILE).chmod(0o644)
    with caplog.at_level(logging.ERROR):
        for _ in range(3):
            assert not users.look()
            assert not users.look(again=True)
    assert len(caplog.records) == 1
    assert users.secret_of("alice") is not None
    (tmp_path / USERS_FILE).chmod(0o600)
    assert not users.look()
    assert users.look(again=True)
    assert users.secret_of("alice") is None
    assert users.secret_of("bob") is not None


def test_the_first_user_is_made_where_nobody_ever_was(tmp_path: Path) -> None:
    """An empty file is of somebody who dropped everybody."""
    entropy, clock = SeededEntropy(1), ManualClock()
    users = Users(LocalFiles(), tmp_path)
    assert users.make_first("root", "hush hush", entropy, clock)
    assert users.secret_of("root") is not None
    assert not users.make_first("other", "hush hush", entropy, clock)
    write(tmp_path)
    assert not Users(LocalFiles(), tmp_path).make_first("root", "hush hush", entropy, clock)
