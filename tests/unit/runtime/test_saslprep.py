"""Names and passwords in one form."""

from __future__ import annotations

import pytest

from lakeward.runtime.saslprep import prepared_text


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("plain words, 1 2 3", "plain words, 1 2 3"),
        ("", ""),
        ("e\u0301te\u0301", "\u00e9t\u00e9"),  # an accent of its own, a letter that has one
        ("wide\u3000space", "wide space"),
        ("\u2168", "IX"),
        ("soft\u00adhyphen", "softhyphen"),
        ("\u0627\u0628", "\u0627\u0628"),
    ],
)
def test_the_same_word_has_one_form(typed: str, meant: str) -> None:
    """However a word was typed, it is the same word; and what has that form keeps it."""
    assert prepared_text(typed) == meant
    assert prepared_text(meant) == meant


@pytest.mark.parametrize("text", ["a\x00b", "a\nb", "\x7f", "\ud800", "\ue000", "\u0627x", "\u06271"])
def test_what_cannot_be_typed_is_refused_without_being_quoted(text: str) -> None:
    """Control characters, half characters and mixed directions have no form; the error does not show them."""
    with pytest.raises(ValueError, match="it ") as wrong:
        prepared_text(text)
    assert text not in str(wrong.value)
