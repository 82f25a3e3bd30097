"""JSON that is written: JSON_STRING, JSON_OBJECT, JSON_ARRAY and their aggregates, piece by piece."""

from __future__ import annotations

from typing import Final

from sqlglot import exp

from lakeward.language.functions.shape.form import Around, SparkForm, form
from lakeward.language.functions.shape.function import Call

#: A value as JSON: that of an array without its brackets, since a scalar alone Spark does not write.
_WRITTEN: Final = "regexp_replace(to_json(array({0}), map('ignoreNullFields', 'false')), '^.|.$', '')"
_WRITE: Final = f"if({{0}} IS NULL, NULL, {_WRITTEN})"

#: A text in quotes that is JSON, as the only element of an array; any other text stays as it is.
_UNQUOTE: Final = (
    "if(left({0}, 1) = '\"' AND size(from_json(concat('[', {0}, ']'), 'array<string>')) = 1, "
    "coalesce(get(from_json(concat('[', {0}, ']'), 'array<string>'), 0), {0}), {0})"
)

Pair = tuple[exp.Expression, exp.Expression]


def rewrite_string(call: Call) -> exp.Expression:
    """JSON_STRING(value)."""
    return form(_WRITE, call.arguments)


def rewrite_quote(call: Call) -> exp.Expression:
    """JSON_QUOTE(text): the text as JSON."""
    return form(_WRITE, [form("CAST({0} AS STRING)", call.arguments)])


def rewrite_unquote(call: Call) -> exp.Expression:
    """JSON_UNQUOTE(json): the text that a JSON text stands for; what is none stays."""
    return form(_UNQUOTE, call.arguments)


def write_object(pairs: list[Pair], *, keeps_nulls: bool = True) -> exp.Expression:
    """JSON_OBJECT: keys and values in the order written."""
    parts = [_pair(pair, keeps_nulls) for pair in pairs]
    return _json(form("concat('{', concat_ws(',', {0…}), '}')", parts or [exp.Null()]))


def write_object_of_rows(pair: Pair, *, keeps_nulls: bool = True) -> exp.Expression:
    """JSON_OBJECTAGG: a pair of each row."""
    inner = form("collect_list({0})", [_pair(pair, keeps_nulls)])
    return _json(Around(this="concat('{', array_join({0}, ','), '}')", expressions=[inner]))


def rewrite_object(call: Call) -> exp.Expression:
    """JSON_OBJECT() without pairs; those with pairs have a node of their own."""
    if call.arguments:
        raise call.refuse(f"The pairs of {call.name} are written KEY 'name' VALUE value.")
    return write_object([])


def rewrite_array(call: Call) -> exp.Expression:
    """JSON_ARRAY: values in the order written, NULLs left out where nothing is said."""
    values, keeps_nulls = _values(call)
    parts = [_or_null(_as_json(value), keeps_nulls) for value in values]
    return _json(form("concat('[', concat_ws(',', {0…}), ']')", parts or [exp.Null()]))


def rewrite_array_of_rows(call: Call) -> exp.Expression:
    """JSON_ARRAYAGG: a value of each row, NULLs left out where nothing is said."""
    (value, *_), keeps_nulls = _values(call)
    word = "DISTINCT " if isinstance(value, exp.Distinct) else ""
    plain = value.expressions[0] if isinstance(value, exp.Distinct) else value
    inner = form(f"collect_list({word}{{0}})", [_or_null(_as_json(plain), keeps_nulls)])
    return _json(Around(this="concat('[', array_join({0}, ','), ']')", expressions=[inner]))


def _values(call: Call) -> tuple[list[exp.Expression], bool]:
    """The values, and whether NULL ON NULL follows them, which the grammar hands on as one word."""
    *values, last = call.arguments or [exp.Var(this="")]
    if isinstance(last, exp.Var):
        return values, last.name == "NULL ON NULL"
    return [*values, last], False


def _pair(pair: Pair, keeps_nulls: bool) -> exp.Expression:
    key, value = pair
    return form("concat({0}, ':', {1})", [_as_json(key), _or_null(_as_json(value), keeps_nulls)])


def _as_json(value: exp.Expression) -> exp.Expression:
    """A value as JSON; what JSON_OBJECT and JSON_ARRAY made is put in as it is."""
    return value if value.meta.get("is_json") else form(_WRITE, [value])


def _or_null(value: exp.Expression, keeps_nulls: bool) -> exp.Expression:
    return form("coalesce({0}, 'null')", [value]) if keeps_nulls else value


def _json(made: SparkForm) -> SparkForm:
    made.meta["is_json"] = True
    return made
