"""SparkForm: a piece of Spark SQL with holes, filled by the trees of arguments; what translated functions become."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from enum import Enum
from typing import ClassVar, Final

from sqlglot import exp

#: `{2}` is the third argument, `{2…}` the third and all after it.
HOLE: Final = re.compile(r"\{(\d+)(…?)\}")
#: Types by the names that Spark's typeof gives.
WHOLE_NUMBERS: Final = ("tinyint", "smallint", "int", "bigint")
FRACTIONS: Final = ("double", "float")


class Number(Enum):
    """What kind of number it is."""

    WHOLE = "whole"
    FRACTION = "fraction"


class SparkForm(exp.Expression, exp.Condition):
    """`this` is the text with holes, `expressions` are the arguments; nothing rewrites it any more."""

    arg_types: ClassVar[dict[str, bool]] = {"this": True, "expressions": False}


class Around(SparkForm):
    """A form around an aggregate, its only argument: FILTER and OVER belong to what is inside."""


def form(text: str, arguments: Iterable[exp.Expr] = (), *, gives: Number | None = None) -> SparkForm:
    """A node that prints as the text with the arguments in its holes."""
    made = SparkForm(this=text, expressions=list(arguments))
    if gives is not None:
        made.meta["gives"] = gives
    return made


def number_of(node: exp.Expression) -> Number | None:
    """Whether a translated tree gives whole numbers or not, as far as it shows."""
    if isinstance(node, exp.Literal):
        return None if node.is_string else Number.WHOLE if node.name.isdigit() else Number.FRACTION
    if isinstance(node, exp.Paren | exp.Neg):
        return number_of(node.this)
    if isinstance(node, exp.Add | exp.Sub | exp.Mul):
        both = {number_of(node.this), number_of(node.expression)}
        return Number.FRACTION if Number.FRACTION in both else Number.WHOLE if both == {Number.WHOLE} else None
    if isinstance(node, exp.Filter | exp.Window):
        return number_of(node.this)
    return node.meta.get("gives") if isinstance(node, SparkForm) else None


def by_type(of: str, cases: Mapping[tuple[str, ...], str], otherwise: str) -> str:
    """The text of an expression whose type, too, depends on the type of another, which only Spark knows.

    IF and CASE give all branches one type. The names of a struct's fields are computed when Spark analyses the
    query, so that `.it` finds the right branch then, and its optimizer drops the others: no cost at run time.
    """
    known = [name for names in cases for name in names]
    fields = [f"if({is_of(of, names)}, 'it', '{names[0]}'), {text}" for names, text in cases.items()]
    fields.append(f"if({is_of(of, known)}, 'other', 'it'), {otherwise}")
    return f"named_struct({', '.join(fields)}).it"


def is_of(of: str, names: Iterable[str]) -> str:
    """The text that asks whether an expression is of one of the types."""
    return f"typeof({of}) IN ({', '.join(repr(name) for name in names)})"
