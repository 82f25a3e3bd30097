"""Scripts cut into statements."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakeward.language.grammar.text.split import is_complete, leftover, split_script
from lakeward.language.place import Place, ScriptError

_STATEMENTS = (
    "SELECT 1",
    "SELECT ';' AS a, `;` FROM t",
    'SELECT "a;b"',
    "SET 'a' = 'b;c'",
    "SELECT CASE WHEN a THEN ';' END FROM t /*+ OPTIONS('k' = ';') */",
    "EXECUTE STATEMENT SET BEGIN INSERT INTO a SELECT 1; INSERT INTO b SELECT CASE WHEN c THEN 1 END; END",
    "BEGIN STATEMENT SET; INSERT INTO a VALUES ('END;'); END",
    "EXPLAIN STATEMENT SET BEGIN INSERT INTO a SELECT 1; END",
    "BEGIN DECLARE x INT; IF x > 1 THEN SELECT 1; END IF; BEGIN SELECT 2; END; END",
    "INSERT INTO a SELECT t.end, t.`begin` FROM t",
)
_GAPS = st.lists(
    st.sampled_from([" ", "\n", "\t", "\r\n", "-- a ; comment's\n", '/* b ; "c" */', ";", "/**/"]), max_size=4
).map("".join)


def texts(script: str) -> list[str]:
    """The texts of a script's statements."""
    return [piece.text for piece in split_script(script)]


@given(st.lists(st.tuples(_GAPS, st.sampled_from(_STATEMENTS)), max_size=6), _GAPS, st.booleans())
def test_statements_come_back_whatever_stands_between_them(
    parts: list[tuple[str, str]], end: str, has_semicolon: bool
) -> None:
    """Semicolons in quotes, comments and blocks do not cut, empty statements are skipped, the last semicolon may go."""
    script = ";".join(gap + statement for gap, statement in parts) + (";" + end if has_semicolon else "\n")
    pieces = list(split_script(script))
    assert [piece.text for piece in pieces] == [statement for _, statement in parts]
    assert [piece.number for piece in pieces] == list(range(1, len(parts) + 1))
    for piece in pieces:
        line = script.split("\n")[piece.place.line - 1]
        assert line[piece.place.column - 1 :].startswith(piece.text)


def test_a_statement_knows_its_place() -> None:
    """The line and column of its first word, comments in front of it left out."""
    pieces = list(split_script("SELECT 1;\n-- two\n  /* x */ SELECT 2; SELECT\n3"))
    assert [piece.place for piece in pieces] == [Place(1, 1), Place(3, 11), Place(3, 21)]


def test_statements_in_front_of_an_open_quote_are_given_first() -> None:
    """What stands before an error stands."""
    pieces = split_script("SELECT 1; SELECT 2;\nSELECT 'x; SELECT 3;")
    assert [next(pieces).text, next(pieces).text] == ["SELECT 1", "SELECT 2"]
    with pytest.raises(ScriptError, match="Line 2, column 8: the quote that is opened here is never closed"):
        next(pieces)


@pytest.mark.parametrize(
    ("script", "place", "sentence"),
    [
        ("SELECT (1", Place(1, 8), "'(' is opened here and never closed; expected ')'."),
        ("SELECT 1;\nSELECT a[(1)", Place(2, 9), "'[' is opened here and never closed; expected ']'."),
        ("SELECT (1; SELECT 2)", Place(1, 8), "'(' is opened here and never closed; expected ')'."),
        ("SELECT 1)", Place(1, 9), "')' closes what was never opened."),
        ("SELECT (\n1]", Place(2, 2), "expected ')' for the '(' of line 1, column 8, found ']'."),
        ("EXECUTE STATEMENT SET\nBEGIN\nINSERT INTO a SELECT 1;", Place(2, 1), "BEGIN without its END; expected END;."),
        (
            "EXECUTE STATEMENT SET BEGIN INSERT INTO a SELECT f(1; INSERT INTO b SELECT 2; END",
            Place(1, 51),
            "'(' is opened here and never closed; expected ')'.",
        ),
    ],
)
def test_brackets_and_blocks_without_their_other_half_are_refused(script: str, place: Place, sentence: str) -> None:
    """At the half that is there."""
    with pytest.raises(ScriptError) as raised:
        list(split_script(script))
    assert (raised.value.place, raised.value.sentence) == (place, sentence)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "  \n",
        "-- only a comment",
        "SELECT 1;",
        "SELECT ';';  -- done",
        "EXECUTE STATEMENT SET BEGIN INSERT INTO a SELECT 1; END;",
    ],
)
def test_a_text_is_complete_when_every_statement_is_ended(text: str) -> None:
    """The shell runs it at once."""
    assert is_complete(text)
    assert leftover(text) is None


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        ("SELECT 1", "SELECT 1"),
        ("SELECT 1; SELECT 2", " SELECT 2"),
        ("SELECT ';", "SELECT ';"),
        ("SELECT 1; /* open", " /* open"),
        ("SELECT 1; SELECT `a;", " SELECT `a;"),
        ("EXECUTE STATEMENT SET BEGIN INSERT INTO a SELECT 1;", "EXECUTE STATEMENT SET BEGIN INSERT INTO a SELECT 1;"),
        ("SELECT 1;\nBEGIN STATEMENT SET;", "\nBEGIN STATEMENT SET;"),
    ],
)
def test_a_text_that_goes_on_says_what_is_left_over(text: str, rest: str) -> None:
    """The shell asks for another line."""
    assert not is_complete(text)
    assert leftover(text) == rest
