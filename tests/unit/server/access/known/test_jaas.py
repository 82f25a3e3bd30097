"""Users as Java writes them down."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakeward.server.access.known.jaas import users_of

MODULE = "org.apache.fluss.security.auth.sasl.plain.PlainLoginModule"


@pytest.mark.parametrize(
    ("text", "users"),
    [
        (f'{MODULE} required user_admin="admin-secret" user_alice="a b";', {"admin": "admin-secret", "alice": "a b"}),
        (f"{MODULE} Required\n  user_al-ice='it''s'\n;".replace("''", ""), {"al-ice": "its"}),
        (f'{MODULE} optional username="x" password="y" user_a=word;', {"a": "word"}),
        (f'{MODULE} required /* these\nare all */ user_a="// no comment" // but this is\n;', {"a": "// no comment"}),
        (f'{MODULE} required user_a="q\\"\\\\\\t";', {"a": 'q"\\\t'}),
    ],
)
def test_users_are_read(text: str, users: dict[str, str]) -> None:
    """Quoted either way or bare, over several lines, with comments; other entries are no users."""
    assert users_of(text) == users


@pytest.mark.parametrize(
    "text",
    [
        "",
        "hush",
        f'{MODULE} required user_a="hush"',
        f'{MODULE} maybe user_a="hush";',
        f"{MODULE} required;",
        f'{MODULE} required username="hush";',
        f'{MODULE} required user_="hush";',
        f'{MODULE} required user_a="";',
        f'{MODULE} required user_a="hush" user_a="hush2";',
        f'{MODULE} required user_a "hush";',
        f'{MODULE} required user_a="hush;',
        f'{MODULE} required user_a="hush"; {MODULE} required user_b="hush";',
        f'{MODULE} required /* user_a="hush";',
    ],
)
def test_what_is_not_of_that_form_is_refused_without_being_shown(text: str) -> None:
    """A half password must not end up in an error."""
    with pytest.raises(ValueError, match=r"it |a quotation mark") as wrong:
        users_of(text)
    assert "hush" not in str(wrong.value)


@given(st.dictionaries(st.from_regex(r"[a-z_0-9]{1,8}", fullmatch=True), st.text(min_size=1), min_size=1))
def test_any_password_comes_through(users: dict[str, str]) -> None:
    """Whatever is in it, quoted as Java quotes."""
    quoted = {name: word.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") for name, word in users.items()}
    entries = " ".join(f'user_{name}="{word}"' for name, word in quoted.items())
    assert users_of(f"{MODULE} required {entries};") == users
