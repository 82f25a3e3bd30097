"""Columns and conditions by themselves."""

from __future__ import annotations

import pytest

from lakeward.language.place import ScriptError
from lakeward.language.plan.projection import ProjectedColumn, read_condition, read_projection


def test_columns_names_and_expressions() -> None:
    """Plain columns are known as such; expressions come as Spark SQL."""
    assert read_projection("*, a AS b, id + 1 AS next") == (
        ProjectedColumn(None, "*"),
        ProjectedColumn("b", "`a`", "a"),
        ProjectedColumn("next", "`id` + 1"),
    )
    assert read_condition("a > 1 AND b <> 'x'") == "`a` > 1 AND `b` <> 'x'"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a, FROM", "expected something after ','"),
        ("a, , b", "expected something before ','"),
        (", b", "expected something before ','"),
        ("upper(a)", "has no name; write … AS name"),
        ("sum(a) AS s", "looked at by itself here, and sum needs several"),
        ("(SELECT 1) AS s", "no queries inside"),
        ("a FROM x; DROP TABLE y; SELECT b", "expected"),
    ],
)
def test_what_is_no_list_of_columns_is_refused(text: str, words: str) -> None:
    """With a place in the text."""
    with pytest.raises(ScriptError) as wrong:
        read_projection(text)
    assert words in wrong.value.sentence


def test_a_condition_is_only_that() -> None:
    """No clause may follow it."""
    with pytest.raises(ScriptError):
        read_condition("a > 1 ORDER BY b")
