"""Numbers."""

from __future__ import annotations

from typing import Final

from sqlglot import exp

from lakeward.language.functions.shape.form import FRACTIONS, WHOLE_NUMBERS, Number, by_type, form, is_of, number_of
from lakeward.language.functions.shape.function import Call, Function, same

_PLAIN: Final = "({0} / {1})"
_UP: Final = by_type("{number}", {FRACTIONS: "CAST(ceil({number}) AS DOUBLE)"}, "ceil({number})")
_DOWN: Final = by_type("{number}", {FRACTIONS: "CAST(floor({number}) AS DOUBLE)"}, "floor({number})")
_SIGN: Final = by_type("{number}", {WHOLE_NUMBERS: "CAST(sign({number}) AS INT)"}, "sign({number})")
_BELOW_ZERO: Final = "NULL where the number is 0 or less."


def _rewrite_division(call: Call) -> exp.Expression:
    """By what the numbers are: where it shows, else by their types, which Spark knows."""
    kinds = {number_of(argument) for argument in call.arguments}
    if Number.FRACTION in kinds:
        return form(_PLAIN, call.arguments, gives=Number.FRACTION)
    if kinds == {Number.WHOLE}:
        return form("({0} DIV {1})", call.arguments, gives=Number.WHOLE)
    unknown = [f"{{{index}}}" for index, argument in enumerate(call.arguments) if number_of(argument) is None]
    return form(_divide(" + ".join(unknown)), call.arguments)


def _divide(of: str) -> str:
    """By the type of the sum; fractions are kept from the whole division, in which 0.5 is 0."""
    whole = f"if({is_of(of, WHOLE_NUMBERS)}, CAST({{0}} AS BIGINT) DIV CAST({{1}} AS BIGINT), NULL)"
    return by_type(of, {WHOLE_NUMBERS: whole}, _PLAIN)


def _truncate(places: str) -> str:
    cut = f"if({{number}} < 0, ceil({{number}}, {places}), floor({{number}}, {places}))"
    cases = {FRACTIONS: f"CAST({cut} AS DOUBLE)", WHOLE_NUMBERS: f"CAST({cut} AS BIGINT)"}
    return by_type("{number}", cases, cut)


def _fraction(name: str, *arguments: str, differs: str = "") -> Function:
    return same(name, *arguments, differs=differs, gives=Number.FRACTION)


ARITHMETIC = (
    Function(
        name="/",
        written="a / b",
        forms={"a, b": "a DIV b for whole numbers, a / b for others"},
        rewrite=_rewrite_division,
        differs="Whole numbers give a whole number (BIGINT), as in the guide's SQL: 7 / 2 is 3. A zero below fails, "
        "for DOUBLE, too, where Flink gives Infinity.",
    ),
    Function(
        name="MOD",
        written="MOD(a, b), a % b",
        forms={"a, b": "({a} % {b})"},
        differs="`%` is the same. A zero below fails, for DOUBLE, too.",
    ),
    same("ABS", "number"),
    _fraction("POWER", "base, exponent"),
    _fraction("SQRT", "number"),
    _fraction("LN", "number", differs=_BELOW_ZERO),
    _fraction("LOG10", "number", differs=_BELOW_ZERO),
    _fraction("LOG2", "number", differs=_BELOW_ZERO),
    _fraction("LOG", "number", "base, number", differs=_BELOW_ZERO),
    _fraction("EXP", "number"),
    Function(
        name="CEIL",
        forms={"number": _UP, "number, places": "ceil({number}, {places})"},
        shown="`ceil(number)`, in the number's type",
    ),
    Function(
        name="CEILING",
        forms={"number": _UP, "number, places": "ceil({number}, {places})"},
        shown="`ceil(number)`, in the number's type",
    ),
    Function(
        name="FLOOR",
        forms={"number": _DOWN, "number, places": "floor({number}, {places})"},
        shown="`floor(number)`, in the number's type",
    ),
    *(
        _fraction(name, "number")
        for name in ("SIN", "SINH", "COS", "COSH", "TAN", "TANH", "COT", "ASIN", "ACOS", "ATAN")
    ),
    _fraction("ATAN2", "y, x"),
    _fraction("DEGREES", "number"),
    _fraction("RADIANS", "number"),
    Function(name="SIGN", forms={"number": _SIGN}, shown="`sign(number)`, in the number's type"),
    same("ROUND", "number", "number, places"),
    Function(
        name="TRUNCATE",
        forms={
            "number": _truncate("0"),
            "number, places": _truncate("{places}"),
        },
        shown="`floor(number, places)`, `ceil` below 0, in the number's type",
        differs="The number of places is a constant. A DOUBLE is cut by its first 15 decimal places.",
    ),
    _fraction("PI"),
    _fraction("E"),
    Function(
        name="RAND",
        forms={"": "rand()", "seed": "rand({seed})"},
        is_deterministic=False,
        differs="With a seed the numbers are repeatable, and others than Flink's.",
    ),
    Function(
        name="RAND_INTEGER",
        forms={
            "bound": "CAST(floor(rand() * {bound}) AS INT)",
            "seed, bound": "CAST(floor(rand({seed}) * {bound}) AS INT)",
        },
        is_deterministic=False,
        differs="With a seed the numbers are repeatable, and others than Flink's.",
    ),
    Function(name="UUID", forms={"": "uuid()"}, is_deterministic=False),
    same("BIN", "integer"),
    same("HEX", "value"),
    same("UNHEX", "text"),
)
