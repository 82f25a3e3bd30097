"""What rows are ordered by as fields of a struct, so that its greatest or least is the first of them."""

from __future__ import annotations

from typing import Final

from sqlglot import exp

from lakeward.language.functions.shape.form import FRACTIONS, WHOLE_NUMBERS, form
from lakeward.language.plan.shape.trees import text


def _is(*names: str) -> str:
    return f"typeof({{0}}) IN ({', '.join(repr(name) for name in names)})"


#: Which types, a value of theirs, and what of VALUE is the smaller, the greater it is; NULL stays NULL.
_INVERSE: Final = (
    # No number overflows by it, as the least one would with a minus.
    (_is(*WHOLE_NUMBERS), "0", "~CAST(VALUE AS BIGINT)"),
    ("typeof({0}) LIKE 'decimal%'", "0.0", "-VALUE"),
    (_is(*FRACTIONS), "0D", "nanvl(-CAST(VALUE AS DOUBLE), double('-Infinity'))"),
    (_is("boolean"), "TRUE", "NOT VALUE"),
    (_is("date"), "DATE '1970-01-01'", "~unix_date(VALUE)"),
    (_is("timestamp"), "TIMESTAMP '1970-01-01 00:00:00'", "~unix_micros(VALUE)"),
    # Without a zone, in which an hour may come twice.
    (
        _is("timestamp_ntz"),
        "TIMESTAMP_NTZ '1970-01-01 00:00:00'",
        "(TIMESTAMP_NTZ '1970-01-01 00:00:00' - VALUE) DIV INTERVAL '0.000001' SECOND",
    ),
    # Each digit of a byte is turned round; the end of a text comes after all digits, since a part is less than a whole.
    (_is("string", "binary"), "''", "concat(translate(hex(VALUE), '0123456789ABCDEF', 'FEDCBA9876543210'), 'G')"),
)


def _inverse() -> str:
    """By the type, which only Spark knows: the field that is called `it` is the right one, and all must be possible."""
    fields = []
    for at, (kinds, instead, how) in enumerate(_INVERSE):
        value = f"named_struct(if({kinds}, 'it', 'no'), {{0}}, if({kinds}, 'no', 'it'), {instead}).it"
        fields.append(f"if({kinds}, 'it', 'no{at}'), {how.replace('VALUE', value)}")
    known = " OR ".join(kinds for kinds, _, _ in _INVERSE)
    wrong = "raise_error(concat('ROW_NUMBER: rows cannot be ordered by ', typeof({0})))"
    return f"named_struct({', '.join(fields)}, if({known}, 'no', 'it'), {wrong}).it"


def order_fields(order: exp.Ordered, value: exp.Expression, name: str, *, is_last: bool) -> list[exp.Expr]:
    """Names and values of the fields: `is_last` says that the greatest struct is the first row, else the least is.

    NULL is less than all: where it should be the greatest, a field in front says so.
    """
    fields: list[exp.Expr] = []
    if bool(order.args.get("nulls_first")) == is_last:
        fields += [text(f"{name}_null"), exp.Is(this=value.copy(), expression=exp.Null())]
    is_inverse = bool(order.args.get("desc")) != is_last
    return [*fields, text(name), form(_inverse(), [value.copy()]) if is_inverse else value.copy()]
