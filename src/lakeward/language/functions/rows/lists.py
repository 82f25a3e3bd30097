"""Arrays, maps and rows."""

from __future__ import annotations

from sqlglot import exp

from lakeward.language.functions.shape.form import form
from lakeward.language.functions.shape.function import Call, Function, same

_SOLE = "ELEMENT is for arrays of one element at most"


def _slice(end: str) -> str:
    """From start to end, both in it, cut to what the array has."""
    first = _place("{start}")
    last = f"least({_place(end)}, size({{array}}))"
    return f"slice({{array}}, greatest({first}, 1), greatest({last} - greatest({first}, 1) + 1, 0))"


def _place(number: str) -> str:
    return f"if({number} < 0, size({{array}}) + {number} + 1, greatest({number}, 1))"


def _rewrite_row(call: Call) -> exp.Expression:
    """Fields by number: rows of one array must have the same names."""
    fields = ", ".join(f"'EXPR${index}', {{{index}}}" for index in range(len(call.arguments)))
    return form(f"named_struct({fields})", call.arguments)


LISTS = (
    Function(name="ARRAY", written="ARRAY[values…]", forms={"values…": "array({values…})"}),
    Function(
        name="MAP",
        written="MAP[key, value, …]",
        forms={"values…": "map({values…})"},
        differs="A key that comes twice fails; Flink keeps the last.",
    ),
    Function(
        name="ROW",
        forms={"values…": "named_struct('EXPR$0', …, {values…})"},
        rewrite=_rewrite_row,
        differs="Fields without a name are EXPR$0, EXPR$1, …; CAST(… AS ROW<…>) names them.",
    ),
    Function(
        name="[]",
        written="collection[key]",
        forms={"collection, key": "try_element_at({collection}, {key})"},
        differs="Elements of arrays begin at 1, as in the guide's SQL (Spark's own [] at 0); NULL beyond the end, and "
        "for a key that a map has not.",
    ),
    same("CARDINALITY", "collection"),
    Function(
        name="ELEMENT",
        forms={"array": f"if(size({{array}}) > 1, raise_error('{_SOLE}'), get({{array}}, 0))"},
    ),
    Function(
        name="ARRAY_CONTAINS",
        forms={"array, value": "exists({array}, item -> item <=> {value})"},
        differs="TRUE or FALSE, also with NULLs in the array and for NULL itself.",
    ),
    same("ARRAY_DISTINCT", "array"),
    same("ARRAY_JOIN", "array, separator", "array, separator, for_nulls"),
    same("ARRAY_POSITION", "array, value"),
    Function(
        name="ARRAY_REMOVE",
        forms={"array, value": "filter({array}, item -> NOT (item <=> {value}))"},
        differs="NULL as the value removes NULLs.",
    ),
    Function(name="ARRAY_REVERSE", forms={"array": "reverse({array})"}),
    Function(name="ARRAY_CONCAT", forms={"arrays…": "concat({arrays…})"}),
    same("ARRAY_APPEND", "array, value"),
    same("ARRAY_PREPEND", "array, value"),
    same("ARRAY_MAX", "array"),
    same("ARRAY_MIN", "array"),
    same("ARRAY_UNION", "array, other"),
    same("ARRAY_EXCEPT", "array, other"),
    same("ARRAY_INTERSECT", "array, other"),
    Function(
        name="ARRAY_SORT",
        forms={"array": "sort_array({array})", "array, ascending": "sort_array({array}, {ascending})"},
        differs="NULLs come first, last where the order is descending; Spark's own puts them last.",
    ),
    Function(
        name="ARRAY_SLICE",
        forms={"array, start": _slice("-1"), "array, start, end": _slice("{end}")},
        shown="`slice(array, start, end - start + 1)`",
        differs="Both ends are in it; numbers below 0 count from the end, 0 is 1.",
    ),
    same("MAP_KEYS", "map"),
    same("MAP_VALUES", "map"),
    same("MAP_ENTRIES", "map"),
    same("MAP_FROM_ARRAYS", "keys, values"),
    Function(
        name="MAP_UNION",
        forms={"maps…": "map_concat({maps…})"},
        differs="A key that comes twice fails; Flink keeps the last.",
    ),
)
