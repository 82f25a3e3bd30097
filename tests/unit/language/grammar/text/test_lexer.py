"""Tokens of a script."""

from __future__ import annotations

import pytest

from lakeward.language.grammar.text.lexer import read_tokens
from lakeward.language.grammar.text.script_text import ScriptText


def kinds(text: str) -> list[tuple[str, str]]:
    """Kind and value of every token."""
    return [(token.kind, token.value) for token in read_tokens(ScriptText(text)).tokens]


def test_words_names_texts_numbers_and_signs_are_told_apart() -> None:
    """Each piece is of one kind, and its value is what it stands for."""
    assert kinds("SELECT `a``b`, 'it''s', 1.5e3, t.orders$changelog") == [
        ("word", "SELECT"),
        ("quoted", "a`b"),
        ("sign", ","),
        ("text", "it's"),
        ("sign", ","),
        ("number", "1.5e3"),
        ("sign", ","),
        ("word", "t"),
        ("sign", "."),
        ("word", "orders$changelog"),
    ]


def test_a_backslash_stands_for_itself_in_single_quotes_and_escapes_in_double_ones() -> None:
    """A pattern is written as it is meant; double quotes are Spark's."""
    assert kinds(r"""'\d+' "a\n\"b\u0041\\" """) == [("text", r"\d+"), ("text", 'a\n"bA\\')]


def test_raw_and_hexadecimal_texts_are_spark_s() -> None:
    """r'…' keeps its backslashes, X'…' is bytes."""
    assert kinds(r"r'\d' X'1F'") == [("raw", r"\d"), ("hex", "1F")]


def test_comments_are_left_out_and_hints_are_not() -> None:
    """A hint is part of the statement."""
    assert kinds("a -- b\n/* c ; * / */ d /*+ OPTIONS('k'='v') */") == [
        ("word", "a"),
        ("word", "d"),
        ("hint", "/*+ OPTIONS('k'='v') */"),
    ]


@pytest.mark.parametrize("number", ["0", "12", "1.5", ".5", "1e3", "1.5E-3", "10L", "2bd", "1.5d"])
def test_a_number_is_one_token(number: str) -> None:
    """With a fraction, an exponent or a suffix of Spark's."""
    assert kinds(number) == [("number", number)]


def test_signs_of_two_characters_are_one_token() -> None:
    """But a closing > > of nested types is two."""
    signs = ["<=", ">=", "<>", "!=", "<=>", "||", "=>", "->", "::", ">", ">"]
    assert [value for _, value in kinds(" ".join(signs))] == signs
    assert [value for _, value in kinds("ARRAY<ARRAY<INT>>")] == ["ARRAY", "<", "ARRAY", "<", "INT", ">", ">"]


@pytest.mark.parametrize(
    ("text", "place", "what"),
    [
        ("SELECT\n  'abc", "line 2, column 3", "quote"),
        ('a "b', "line 1, column 3", "quote"),
        ("a\n\n`b", "line 3, column 1", "quote"),
        ("a /* b", "line 1, column 3", "comment"),
        ("a /*+ b", "line 1, column 3", "comment"),
    ],
)
def test_what_is_never_closed_is_told_where_it_was_opened(text: str, place: str, what: str) -> None:
    """Not at the end of the script, where nobody looks."""
    fault = read_tokens(ScriptText(text)).fault
    assert fault is not None
    assert str(fault.place) == place
    assert f"the {what} that is opened here is never closed" in fault.sentence


def test_marks_that_nobody_sees_are_space() -> None:
    """Editors put one in front of a file, and pages of the web between words."""
    assert kinds("\ufeffSELECT\u200b\xa01") == [("word", "SELECT"), ("number", "1")]


def test_quotes_of_word_processors_are_told() -> None:
    """They look right, and are not; inside a text they are as good as any."""
    fault = read_tokens(ScriptText("SET \u2018a\u2019 = 1")).fault
    assert fault is not None
    assert str(fault) == "Line 1, column 5: \u2018 is a quote of word processors; expected ' or `."
    assert kinds("'\u2018'") == [("text", "\u2018")]
