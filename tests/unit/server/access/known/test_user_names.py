"""Names that can be granted something, and passwords that can be typed."""

from __future__ import annotations

import pytest

from lakeward.errors import LakewardError
from lakeward.server.access.known.user_names import checked_name, checked_password


@pytest.mark.parametrize("name", ["alice", "spark-1", "a.b@example", "k\u00e4the", "CN=x", "x" * 128])
def test_names_of_people_and_programs_are_taken(name: str) -> None:
    """As they are."""
    assert checked_name(name) == name


def test_a_name_has_one_form() -> None:
    """However its letters were typed."""
    assert checked_name("ka\u0308the") == "k\u00e4the"


@pytest.mark.parametrize(
    "name", ["", " ", "a b", "a:b", "a;b", "a,b", "*", 'a"', "a'", "a\\", "a\x00", "x" * 129, "ANONYMOUS"]
)
def test_a_name_that_would_be_read_as_something_else_is_refused(name: str) -> None:
    """Separators, wildcards, and the name of nobody."""
    with pytest.raises(LakewardError):
        checked_name(name)


@pytest.mark.parametrize("password", ["", "1234567", "x" * 513, "hush-hush\x00"])
def test_a_password_that_is_no_password_is_refused_and_not_shown(password: str) -> None:
    """Too short, too long, or not typed by anybody."""
    with pytest.raises(LakewardError) as refused:
        checked_password(password)
    assert "hush" not in refused.value.message
    assert checked_password("12345678") == "12345678"
