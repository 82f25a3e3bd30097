"""Name and password as HTTP sends them."""

from __future__ import annotations

import base64

import pytest

from lakeward.sql_server.access.basic import read_basic


@pytest.mark.parametrize("user", ["bob", "bob2", "bobby", "Zoë"])
@pytest.mark.parametrize("padded", [True, False])
def test_a_login_of_any_length_is_read(user: str, padded: bool) -> None:
    """Drivers in Go leave the padding out; a password may have colons."""
    text = base64.b64encode(f"{user}:secret:1".encode()).decode()
    assert read_basic(text if padded else text.rstrip("=")) == (user, "secret:1")


@pytest.mark.parametrize("text", ["", "é", "!!!!", "Ym9i", "/w=="])
def test_what_is_no_login_is_none(text: str) -> None:
    """Other letters, no colon, no text."""
    assert read_basic(text) is None
