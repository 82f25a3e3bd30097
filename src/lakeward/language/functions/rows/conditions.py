"""Choices, questions, and types of values."""

from __future__ import annotations

from sqlglot import exp

from lakeward.language.functions.shape.form import form
from lakeward.language.functions.shape.function import Call, Function, same

_NUMBER = r"'^\\s*[+-]?([0-9]+\\.?[0-9]*|\\.[0-9]+)([eE][+-]?[0-9]+)?\\s*$'"


def _rewrite_extreme(call: Call) -> exp.Expression:
    """NULL where one is: Spark's own passes over it."""
    if len(call.arguments) == 1:
        return call.arguments[0]
    nulls = " OR ".join(f"{{{index}}} IS NULL" for index in range(len(call.arguments)))
    return form(f"if({nulls}, NULL, {call.name.lower()}({{0…}}))", call.arguments)


def _extreme(name: str) -> Function:
    shown = f"if(any of them is NULL, NULL, {name.lower()}({{values…}}))"
    differs = "NULL if one of them is, as in the guide's SQL; Spark's own passes over it."
    return Function(name=name, forms={"values…": shown}, rewrite=_rewrite_extreme, differs=differs)


CONDITIONS = (
    same("COALESCE", "values…"),
    same("IFNULL", "value, otherwise"),
    same("NULLIF", "value, unwanted"),
    same("IF", "condition, then, otherwise"),
    _extreme("GREATEST"),
    _extreme("LEAST"),
    Function(name="IS_ALPHA", forms={"text": r"coalesce(CAST({text} AS STRING) RLIKE '^\\p{L}+$', FALSE)"}),
    Function(name="IS_DIGIT", forms={"text": r"coalesce(CAST({text} AS STRING) RLIKE '^\\p{Nd}+$', FALSE)"}),
    Function(
        name="IS_DECIMAL",
        forms={"text": f"coalesce(CAST({{text}} AS STRING) RLIKE {_NUMBER}, FALSE)"},
        shown="`text RLIKE` a number, FALSE for NULL",
    ),
    Function(
        name="TYPEOF",
        forms={"value": "upper(typeof({value}))"},
        differs="Spark's name of the type: TIMESTAMP_NTZ for TIMESTAMP(3), without NOT NULL.",
    ),
)
