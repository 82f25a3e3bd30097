"""Spark SQL of a tree: quotes and escapes."""

from __future__ import annotations

from sqlglot import exp

from lakeward.language.functions import spark_text


def test_names_are_in_backticks() -> None:
    """Whatever a column is called, it is no keyword."""
    assert spark_text(exp.column("order", table="my`t")) == "`my``t`.`order`"


def test_texts_keep_quotes_and_backslashes() -> None:
    """Spark reads a backslash as the start of an escape; the guide's SQL does not."""
    assert spark_text(exp.Literal.string("it's \\d\n")) == "'it\\'s \\\\d\n'"


def test_a_function_name_that_is_no_word_is_quoted() -> None:
    """A name comes from people."""
    assert spark_text(exp.Anonymous(this="a b", expressions=[exp.Literal.number(1)])) == "`a b`(1)"
