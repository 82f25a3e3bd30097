"""Passwords that everybody tries."""

from __future__ import annotations

import pytest

from lakeward.doctor.look.passwords import is_weak


@pytest.mark.parametrize("password", ["", "abc", "Password", "password1", "changeme!", "alice", "Alice123"])
def test_a_password_that_everybody_tries_is_weak(password: str) -> None:
    """On every list, the user's own name, or hardly one."""
    assert is_weak("alice", password)


def test_another_one_is_not() -> None:
    """It is not measured how good it is."""
    assert not is_weak("alice", "correct horse battery")
