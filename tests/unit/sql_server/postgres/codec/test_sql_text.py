"""SQL as text: cut up by Postgres's lexical rules, in one pass whatever comes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakeward.errors import LakewardError
from lakeward.sql_server.postgres.codec import sql_text
from lakeward.sql_server.postgres.codec.sql_text import literal, statements_of, tokens_of


@given(st.text(max_size=60) | st.text("'\"$/*-;\\aeE1 \n\r", max_size=60))
def test_tokens_are_pieces_of_their_text(sql: str) -> None:
    """In order, without overlap, whatever the text is; the same for statements."""
    end = 0
    for token in tokens_of(sql):
        assert token.at >= end
        assert token.text
        end = token.at + len(token.text)
        assert sql[token.at : end] == token.text
    for statement in statements_of(sql):
        assert all(statement.sql[t.at :].startswith(t.text) for t in statement.tokens)


@given(st.text(max_size=30))
def test_a_literal_is_one_token(value: str) -> None:
    """Nobody gets out of it."""
    (token,) = tokens_of(literal(value))
    assert (token.kind, token.text[1:-1].replace("''", "'")) == ("text", value)


@pytest.mark.parametrize(
    ("sql", "tokens"),
    [
        ("SELECT $1::int", ["SELECT", "$1", "::", "int"]),
        ("$$a;'b$$ $t$x$$y$t$", ["$$a;'b$$", "$t$x$$y$t$"]),
        ("e'\\';' 'a''b' x'ff'", ["e'\\';'", "'a''b'", "x'ff'"]),
        ("1 -- no $1\r + 2 -- '\n", ["1", "+", "2"]),
        ("a /* b /* ; */ c */ d", ["a", "d"]),
        ('"q""x" 1.5e3 .5', ['"q""x"', "1.5e3", ".5"]),
        ("$open$ rest ; $1", ["$open$ rest ; $1"]),
        ("'open ; $1", ["'open ; $1"]),
        ("/* open ; $1", []),
    ],
)
def test_texts_and_comments_hide_what_is_in_them(sql: str, tokens: list[str]) -> None:
    """Those without an end hide all that follows."""
    assert [token.text for token in tokens_of(sql)] == tokens


def test_statements_are_cut_and_values_put_in() -> None:
    """Places of tokens are those in their own statement; a number may come twice."""
    first, second = statements_of(" SELECT ';' ;; -- x\n SELECT $2 + $1 || $2; ")
    assert (first.words, first.parameters) == (("SELECT", "';'"), 0)
    assert second.parameters == 2
    assert second.with_values(["1", "'$1'"]).strip() == "-- x\n SELECT '$1' + 1 || '$1'"


def test_long_texts_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """By their characters, and by their tokens, each of which takes memory."""
    monkeypatch.setattr(sql_text, "_TOKENS_MAX", 10)
    monkeypatch.setattr(sql_text, "_CHARACTERS_MAX", 100)
    assert len(tokens_of("(" * 10)) == 10
    for sql in ("(" * 11, "x" * 101):
        with pytest.raises(LakewardError, match="too long"):
            tokens_of(sql)


@pytest.mark.parametrize("piece", ["$a$", "$$", "e'\\", "'", '"', "/*", "--", "e'", "$1"])
def test_no_text_takes_more_than_one_pass(piece: str) -> None:
    """A quarter of a million times the same beginning without an end is soon looked at."""
    assert len(tokens_of(piece * 250_000)) <= 500_000
