"""The dialect writes what scripts read."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from sqlglot import Dialect, exp

from lakeward.language.grammar import parse_script
from lakeward.language.grammar.dialect import ScriptDialect
from lakeward.language.statements.rows import Select


@given(st.text(st.characters(exclude_categories=["Cs", "Cc"]) | st.sampled_from("'\"\\`\n\t;-/*")))
def test_any_text_is_read_back_as_it_was_written(text: str) -> None:
    """Quotes, backslashes, lines and all."""
    (statement,) = parse_script(f"SELECT {exp.Literal.string(text).sql(ScriptDialect)}")
    assert isinstance(statement, Select)
    assert statement.query.selects[0] == exp.Literal.string(text)


def test_other_dialects_are_as_they_were() -> None:
    """Spark's writes texts as Spark reads them."""
    assert exp.Literal.string("it's \\").sql("spark") == r"'it\'s \\'"
    assert Dialect["spark"] is not ScriptDialect
