"""JSON that is read: JSON_VALUE, JSON_QUERY, JSON_EXISTS, IS JSON.

Text comes from get_json_object, which reads no further than it must; what a value is, from Spark's VARIANT.
"""

from __future__ import annotations

import re
from typing import Final

from sqlglot import exp

from lakeward.language.functions.shape.form import form
from lakeward.language.functions.shape.function import Call
from lakeward.language.functions.shape.types import spark_type

_PARSED: Final = "try_parse_json({0})"
_FOUND: Final = f"try_variant_get({_PARSED}, {{1}}, 'variant')"
_TEXT: Final = "get_json_object({0}, {1})"
_SHAPE: Final = f"schema_of_variant({_FOUND})"
_IS_NESTED: Final = f"{_SHAPE} RLIKE '^(OBJECT|ARRAY)'"
#: A text that begins so may still be a text.
_MAY_BE_NESTED: Final = f"left({_TEXT}, 1) IN ('{{', '[') AND {_IS_NESTED}"
#: What was found, as JSON: get_json_object takes the quotes off a text.
_AS_JSON: Final = f"if({_IS_NESTED}, {_TEXT}, to_json({_FOUND}))"
_STEP: Final = r"(\.[^.\[\]*]+|\[\d+\]|\['[^']*'\]|\[\*\]|\.\*)"
_ENDS: Final = {
    "": "NULL",
    "NULL": "NULL",
    "EMPTY ARRAY": "'[]'",
    "EMPTY OBJECT": "'{}'",
    "TRUE": "TRUE",
    "FALSE": "FALSE",
    "UNKNOWN": "NULL",
}


def rewrite_value(
    call: Call,
    returning: exp.DataType | None = None,
    on_empty: exp.Expression | None = None,
    on_error: exp.Expression | None = None,
) -> exp.Expression:
    """JSON_VALUE: a scalar as text or as the type after RETURNING; NULL, or what was said, where there is none."""
    path = _path(call)
    if "*" in path.name:
        raise call.refuse("JSON_VALUE gives one value, and * finds many: name one, or use JSON_QUERY.")
    kind = spark_type(returning) if returning is not None else "STRING"
    value = _TEXT if kind == "STRING" else f"try_cast({_TEXT} AS {kind})"
    if on_empty is None and on_error is None:
        return form(f"if({_MAY_BE_NESTED}, NULL, {value})", [call.arguments[0], path])
    empty, error = on_empty or exp.Null(), on_error or exp.Null()
    if _is_strict(call):
        empty = error.copy()
    text = (
        f"CASE WHEN {{0}} IS NULL THEN NULL WHEN {_PARSED} IS NULL OR ({_MAY_BE_NESTED}) THEN CAST({{3}} AS {kind}) "
        f"WHEN {_TEXT} IS NULL THEN CAST({{2}} AS {kind}) ELSE coalesce({value}, CAST({{3}} AS {kind})) END"
    )
    return form(text, [call.arguments[0], path, empty, error])


def rewrite_query(call: Call) -> exp.Expression:
    """JSON_QUERY: an object or an array as text; with a wrapper any value in an array."""
    arguments = [call.arguments[0], _path(call)]
    words = _words(call)
    wrapper = re.search(r"\b(WITHOUT|WITH)\b( (?:UN)?CONDITIONAL)?( ARRAY)? WRAPPER", words)
    if "RETURNING" in words:
        raise call.refuse("JSON_QUERY gives a text: leave RETURNING out, and use FROM_JSON(text, type) around it.")
    if "*" in arguments[1].name:
        # Spark gives a single match without its array.
        return form(f"if({_TEXT} LIKE '[%', {_TEXT}, concat('[', {_TEXT}, ']'))", arguments)
    empty, error = _end(call, words, "EMPTY"), _end(call, words, "ERROR")
    scalar, value = error, _TEXT
    if wrapper and wrapper.group(1) == "WITH":
        scalar = value = f"concat('[', {_AS_JSON}, ']')"
        if (wrapper.group(2) or "").strip() == "CONDITIONAL":
            value = f"if({_SHAPE} LIKE 'ARRAY%', {_TEXT}, {value})"
    return form(
        f"CASE WHEN {{0}} IS NULL THEN NULL WHEN {_PARSED} IS NULL THEN {error} "
        f"WHEN {_FOUND} IS NULL THEN {error if _is_strict(call) else empty} "
        f"WHEN {_IS_NESTED} THEN {value} ELSE {scalar} END",
        arguments,
    )


def rewrite_exists(call: Call) -> exp.Expression:
    """JSON_EXISTS: whether a path finds something."""
    error = _end(call, _words(call), "ERROR", "FALSE")
    missing = error if _is_strict(call) else "FALSE"
    return form(
        f"CASE WHEN {{0}} IS NULL THEN NULL WHEN {_PARSED} IS NULL THEN {error} "
        f"WHEN {_FOUND} IS NULL THEN {missing} ELSE TRUE END",
        [call.arguments[0], _path(call)],
    )


def is_json(node: exp.Expression, kind: str) -> exp.Expression:
    """IS JSON, IS JSON OBJECT, ARRAY or SCALAR."""
    if kind in {"", "VALUE"}:
        return form(f"({_PARSED} IS NOT NULL)", [node])
    shape = f"coalesce(schema_of_variant({_PARSED}), '')"
    pattern = {"OBJECT": "'^OBJECT'", "ARRAY": "'^ARRAY'"}.get(kind, "'^(?!OBJECT|ARRAY).'")
    return form(f"({shape} RLIKE {pattern})", [node])


def _path(call: Call) -> exp.Literal:
    """The path as Spark writes it: without its mode, `['a b']` without a dot in front."""
    path = call.arguments[1]
    if not isinstance(path, exp.Literal):
        raise call.refuse(f"The path of {call.name} is a text such as '$.name', not an expression.")
    written = re.sub(r"^\s*(lax|strict)\s+", "", path.name).replace(".[", "[")
    written = re.sub(r'\["([^"\']*)"\]', r"['\1']", written)
    if not written.startswith("$"):
        raise call.refuse(f"A path begins with $, as in '$.name'; this is {path.name!r}.")
    if not re.fullmatch(rf"\$({_STEP})*", written):
        raise call.refuse(f"A path is made of names and numbers, as in '$.name[0]'; this is {path.name!r}.")
    return exp.Literal.string(written)


def _is_strict(call: Call) -> bool:
    return call.arguments[1].name.lstrip().startswith("strict")


def _words(call: Call) -> str:
    """The words behind the arguments, which the grammar hands on as one."""
    return call.arguments[2].name if len(call.arguments) > 2 else ""


def _end(call: Call, words: str, on: str, default: str = "") -> str:
    """What X ON EMPTY or X ON ERROR gives."""
    found = re.search(rf"(NULL|EMPTY ARRAY|EMPTY OBJECT|ERROR|TRUE|FALSE|UNKNOWN) ON {on}\b", words)
    said = found.group(1) if found else default
    return f"raise_error('{call.name}: ERROR ON {on}')" if said == "ERROR" else _ENDS[said]
