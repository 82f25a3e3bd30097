"""Aggregates by weights, as Spark SQL."""

from __future__ import annotations

import pytest
from sqlglot import exp

from lakeward.language.functions import spark_text, to_spark
from lakeward.language.grammar import parse_script
from lakeward.language.place import Place, ScriptError
from lakeward.language.plan.steps.weights import add_up, weigh
from lakeward.language.statements.rows import Select

_NO_TRACE = "cannot take rows back that were updated or deleted: "
_BATCH = "or ask once, of the table as it is now: SET 'execution.runtime-mode' = 'batch'."


def _call(text: str) -> exp.Expr:
    (statement,) = parse_script(f"SELECT x,\n{text} FROM t;")
    assert isinstance(statement, Select)
    call: exp.Expr = statement.query.expressions[1]
    return call


def _spark(tree: exp.Expr) -> str:
    assert isinstance(tree, exp.Expression)
    return spark_text(to_spark(tree)).replace("`", "")


@pytest.mark.parametrize(
    ("text", "spark"),
    [
        ("COUNT(*)", "COALESCE(SUM(w), 0)"),
        ("count(a)", "COALESCE(SUM(IF(ISNULL(a), 0, w)), 0)"),
        ("COUNT(a OR b)", "COALESCE(SUM(IF(ISNULL(a OR b), 0, w)), 0)"),
        ("COUNT(a, b)", "COALESCE(SUM(IF(ISNULL(a) OR ISNULL(b), 0, w)), 0)"),
        ("COUNT(DISTINCT a)", "lakeward_count_distinct(a, w)"),
        ("COUNT(DISTINCT a, b)", "lakeward_count_distinct(a, b, w)"),
        ("COUNT_IF(a > 1)", "COALESCE(SUM(IF(a > 1, w, 0)), 0)"),
        ("SUM(a * b)", "lakeward_sum(a * b, w)"),
        ("AVG(a)", "lakeward_avg(a, w)"),
        ("Min(a)", "lakeward_min(a, w)"),
        ("MAX(DISTINCT a)", "lakeward_max(a, w)"),
        ("EVERY(a)", "lakeward_min(a, w)"),
        ("SOME(a)", "lakeward_max(a, w)"),
        ("VARIANCE(a)", "lakeward_var_samp(a, w)"),
        ("VAR_POP(a)", "lakeward_var_pop(a, w)"),
        ("STDDEV(a)", "lakeward_stddev_samp(a, w)"),
        ("STDDEV_POP(a)", "lakeward_stddev_pop(a, w)"),
        ("APPROX_COUNT_DISTINCT(a)", "lakeward_count_distinct(a, w)"),
    ],
)
def test_an_aggregate_goes_by_the_weights(text: str, spark: str) -> None:
    """Every aggregate that is right when rows are taken back."""
    assert _spark(weigh(_call(text), exp.column("w"))) == spark


@pytest.mark.parametrize(
    ("text", "spark"),
    [
        ("COUNT(*) FILTER (WHERE p OR q)", "COALESCE(SUM(IF(p OR q, w, 0)), 0)"),
        ("COUNT(a) FILTER (WHERE p)", "COALESCE(SUM(IF(ISNULL(IF(p, a, NULL)), 0, w)), 0)"),
        ("COUNT_IF(a) FILTER (WHERE p)", "COALESCE(SUM(IF(IF(p, a, FALSE), w, 0)), 0)"),
        ("COUNT(DISTINCT a, b) FILTER (WHERE p)", "lakeward_count_distinct(IF(p, a, NULL), IF(p, b, NULL), w)"),
        ("SUM(a - 1) FILTER (WHERE a <> 0)", "lakeward_sum(IF(a <> 0, a - 1, NULL), w)"),
    ],
)
def test_a_filter_leaves_values_out(text: str, spark: str) -> None:
    """FILTER is a condition around the value, which is not computed for other rows."""
    assert _spark(weigh(_call(text), exp.column("w"))) == spark


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (
            "SUM(DISTINCT a)",
            f"SUM(DISTINCT …) {_NO_TRACE}take COUNT, SUM, AVG, MIN, MAX, VAR_POP or STDDEV_POP, {_BATCH}",
        ),
        ("LISTAGG(a, ';') FILTER (WHERE p)", f"LISTAGG(…) {_NO_TRACE}take COUNT(DISTINCT …), MIN or MAX, {_BATCH}"),
        ("COLLECT(a)", f"COLLECT(…) {_NO_TRACE}take COUNT(DISTINCT …), MIN or MAX, {_BATCH}"),
        ("first_value(a)", f"FIRST_VALUE(…) {_NO_TRACE}take MIN or MAX, {_BATCH}"),
        ("MAX_BY(a, b)", f"MAX_BY(…) {_NO_TRACE}take COUNT, SUM, AVG, MIN, MAX, VAR_POP or STDDEV_POP, {_BATCH}"),
        ("APPROX_COUNT_DISTINCT(a, 0.1)", f"APPROX_COUNT_DISTINCT(…) {_NO_TRACE}take COUNT(DISTINCT …), {_BATCH}"),
    ],
)
def test_what_cannot_be_right_is_refused(text: str, sentence: str) -> None:
    """With the call, and with what can be written instead."""
    with pytest.raises(ScriptError) as refused:
        weigh(_call(text), exp.column("w"))
    assert refused.value.sentence == sentence
    assert refused.value.place == Place(0, len("SELECT x,\n"))  # an offset in the statement


@pytest.mark.parametrize(
    ("text", "spark"),
    [
        ("COUNT(DISTINCT a, b)", "lakeward_count_distinct(a, b, 1)"),
        ("COUNT(DISTINCT a) FILTER (WHERE p)", "lakeward_count_distinct(IF(p, a, NULL), 1)"),
        ("MIN(DISTINCT a) FILTER (WHERE p)", "min(a) FILTER(WHERE p)"),
        ("SUM(a) FILTER (WHERE p)", "sum(a) FILTER(WHERE p)"),
        ("LISTAGG(a)", "listagg(a, ',')"),
    ],
)
def test_rows_that_are_only_added_leave_aggregates_to_spark(text: str, spark: str) -> None:
    """But for DISTINCT, which Spark does not have on streams."""
    assert _spark(add_up(_call(text))) == spark


def test_a_distinct_sum_of_a_stream_is_refused() -> None:
    """Spark would refuse it too, without a way that works."""
    with pytest.raises(ScriptError, match=r"AVG\(DISTINCT …\) does not run on a stream: leave DISTINCT out, or take"):
        add_up(_call("AVG(DISTINCT a)"))


def test_the_call_stays_as_it_was() -> None:
    """The planner may ask again."""
    call = _call("SUM(a) FILTER (WHERE p)")
    before = call.sql()
    weigh(call, exp.column("w"))
    add_up(call)
    assert call.sql() == before
