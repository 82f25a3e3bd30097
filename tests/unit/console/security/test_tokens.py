"""Tokens: a visitor, and the token of their forms."""

from __future__ import annotations

from lakeward.console.security.tokens import Tokens
from lakeward.runtime.entropy import SeededEntropy


def test_a_form_is_one_visitors_and_one_consoles() -> None:
    """Neither another visitor's nor one of a console before a restart."""
    tokens, others = Tokens(SeededEntropy(1)), Tokens(SeededEntropy(2))
    visitor = tokens.new_visitor()
    assert tokens.is_visitor(visitor)
    assert tokens.is_form_token(visitor, tokens.form_token(visitor))
    assert not tokens.is_form_token(tokens.new_visitor(), tokens.form_token(visitor))
    assert not others.is_form_token(visitor, tokens.form_token(visitor))
    assert not tokens.is_form_token(visitor, "")
    assert not tokens.is_form_token(visitor, "ü")


def test_a_cookie_of_another_shape_is_none() -> None:
    """Whatever was sent."""
    tokens = Tokens(SeededEntropy(1))
    assert not any(map(tokens.is_visitor, ("", "short", "x" * 44, "ü" * 43 + "\n")))
