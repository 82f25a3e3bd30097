"""ROW_NUMBER() OVER (PARTITION BY k ORDER BY t) = 1: the first or last row of each key, as the least or greatest."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from sqlglot import exp

from lakeward.language.plan.shape.trees import all_of, call, conjuncts, name_as, spark_call, text
from lakeward.language.plan.steps.ordering import order_fields

_ROW, _ORDER, _TOP = "row", "order", "__top"
#: What a number of a row is compared with when only the first one is meant.
_FIRST: Final[dict[type[exp.Expr], str]] = {exp.EQ: "1", exp.LTE: "1", exp.LT: "2"}


def with_newest(select: exp.Select, columns_of: Callable[[exp.Select], tuple[str, ...]]) -> exp.Select:
    """A query of the first row of each key as one with GROUP BY; any other query as it is."""
    source = select.args.get("from_")
    inner = source.this.this if source is not None and isinstance(source.this, exp.Subquery) else None
    where = select.args.get("where")
    if source is None or not isinstance(inner, exp.Select) or where is None:
        return select
    if select.args.get("joins") or source.this.args.get("joins"):
        return select
    ranks = [one for one in inner.expressions if isinstance(one, exp.Alias) and isinstance(one.this, exp.Window)]
    parts = list(conjuncts(where.this))
    firsts = [part for part in parts if len(ranks) == 1 and _is_first(part, ranks[0].alias)]
    if not firsts or not _is_rank(ranks[0].this):
        return select
    window = ranks[0].this
    keys, orders = window.args["partition_by"], window.args["order"].expressions
    is_last = bool(orders[0].args.get("desc"))
    rows = inner.copy()
    rows.set("expressions", [one.copy() for one in inner.expressions if one is not ranks[0]])
    shown = columns_of(rows)
    rank_at = _place(inner, ranks[0], len(shown))
    tree = _greatest_rows(rows, shown, keys, orders, is_last=is_last)
    shown_again = [*shown[:rank_at], ranks[0].alias, *shown[rank_at:]]
    one = exp.Cast(this=exp.Literal.number(1), to=exp.DataType.build("BIGINT"))
    outer = exp.select(
        *(
            name_as(one, name) if name == ranks[0].alias else _column_of(name, shown, keys, inner)
            for name in shown_again
        )
    ).from_(exp.Subquery(this=tree, alias=exp.TableAlias(this=exp.to_identifier("tops", quoted=True))))
    copy = select.copy()
    copy.args["from_"].this.set("this", outer)
    rest = all_of([part.copy() for part in parts if part not in firsts])
    copy.set("where", None if rest is None else exp.Where(this=rest))
    return copy


def _column_of(name: str, shown: tuple[str, ...], keys: list[exp.Expr], inner: exp.Select) -> exp.Expr:
    """A column of the first row; a column of the key is shown as such."""
    number = next((at for at, key in enumerate(keys) if _is_key(key, name, inner)), None)
    if number is not None:
        return name_as(exp.column(exp.to_identifier(f"__key{number}", quoted=True)), name)
    at = shown.index(name)
    row = exp.Dot(
        this=exp.column(exp.to_identifier(_TOP, quoted=True)), expression=exp.to_identifier(_ROW, quoted=True)
    )
    return name_as(exp.Dot(this=row, expression=exp.to_identifier(f"c{at}", quoted=True)), name)


def _is_key(key: exp.Expr, name: str, inner: exp.Select) -> bool:
    """Whether a shown column is that of the key: written as the key is, or by the star of the only table."""
    written = {one.alias_or_name.lower(): one.unalias() for one in inner.expressions if not one.is_star}
    if name.lower() in written:
        return bool(written[name.lower()] == key)
    return isinstance(key, exp.Column) and key.name.lower() == name.lower() and not inner.args.get("joins")


def _is_rank(window: exp.Window) -> bool:
    call_ = window.this
    is_number = isinstance(call_, exp.Anonymous) and str(call_.this).upper() == "ROW_NUMBER"
    return is_number and bool(window.args.get("partition_by")) and window.args.get("order") is not None


def _is_first(part: exp.Expr, rank: str) -> bool:
    wanted = _FIRST.get(type(part))
    is_rank = (
        isinstance(part, exp.Binary) and isinstance(part.this, exp.Column) and part.this.name.lower() == rank.lower()
    )
    return (
        is_rank and wanted is not None and isinstance(part.expression, exp.Literal) and part.expression.name == wanted
    )


def _place(inner: exp.Select, rank: exp.Expr, shown: int) -> int:
    """Where the number stands among the columns that are shown."""
    after = len(inner.expressions) - 1 - next(at for at, one in enumerate(inner.expressions) if one is rank)
    has_star_after = any(one.is_star for one in inner.expressions[len(inner.expressions) - after :])
    return 0 if has_star_after else shown - after


def _greatest_rows(
    rows: exp.Select, shown: tuple[str, ...], keys: list[exp.Expr], orders: list[exp.Ordered], *, is_last: bool
) -> exp.Select:
    """The greatest or least row of each key: a struct is compared by what it begins with, NULL is the least."""
    keyed = rows.copy()
    keyed.set(
        "expressions",
        [
            *keyed.expressions,
            *(name_as(key.copy(), f"__key{at}") for at, key in enumerate(keys)),
            *(name_as(order.this.copy(), f"__order{at}") for at, order in enumerate(orders)),
        ],
    )
    row = spark_call("named_struct", *(part for at, name in enumerate(shown) for part in (text(f"c{at}"), _open(name))))
    order = [
        part
        for at, one in enumerate(orders)
        for part in order_fields(one, _open(f"__order{at}"), f"{_ORDER}{at}", is_last=is_last)
    ]
    top = call("MAX" if is_last else "MIN", spark_call("named_struct", *order, text(_ROW), row))
    names = [f"__key{at}" for at in range(len(keys))]
    tree = exp.select(*(name_as(_open(name), name) for name in names), name_as(top, _TOP))
    tree = tree.from_(exp.Subquery(this=keyed, alias=exp.TableAlias(this=exp.to_identifier("ranked", quoted=True))))
    tree.set("group", exp.Group(expressions=[_open(name) for name in names]))
    return tree


def _open(name: str) -> exp.Column:
    return exp.column(exp.to_identifier(name, quoted=True))
