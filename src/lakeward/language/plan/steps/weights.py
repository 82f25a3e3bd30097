"""Aggregates on streams: by weights where rows are taken back, +1 for a row that came and -1 for one that went.

| call | where rows are taken back | where rows are only added |
|---|---|---|
| COUNT(*), COUNT(x) | sum of the weights | Spark's |
| COUNT(DISTINCT x) | lakeward_count_distinct | the same, each weight 1: Spark has no DISTINCT on streams |
| MIN, MAX, EVERY, SOME | lakeward_min, lakeward_max | Spark's |
| SUM, AVG, VAR_…, STDDEV_… | lakeward_sum and so on | Spark's |
| with FILTER (WHERE p) | IF(p, x, NULL) instead of x | Spark's |
| the others | refused | Spark's |

The functions lakeward_… are in the jar. They have the types of Spark's own. Sums are exact, of DOUBLEs too: a value
that was added and taken back leaves no trace, be it 1e300, infinite or NaN; only a result can be too large.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from sqlglot import exp

from lakeward.language.functions.shape.where import place_of
from lakeward.language.place import ScriptError

_COUNT: Final = "COUNT"
_COUNT_DISTINCT: Final = "lakeward_count_distinct"
#: An aggregate of one value → the one that knows weights.
_WEIGHTED: Final = {
    "SUM": "lakeward_sum",
    "AVG": "lakeward_avg",
    "MEAN": "lakeward_avg",
    **dict.fromkeys(("MIN", "BOOL_AND", "EVERY"), "lakeward_min"),
    **dict.fromkeys(("MAX", "BOOL_OR", "SOME", "ANY"), "lakeward_max"),
    "VAR_POP": "lakeward_var_pop",
    **dict.fromkeys(("VAR_SAMP", "VARIANCE"), "lakeward_var_samp"),
    "STDDEV_POP": "lakeward_stddev_pop",
    **dict.fromkeys(("STDDEV_SAMP", "STDDEV", "STD"), "lakeward_stddev_samp"),
    "APPROX_COUNT_DISTINCT": _COUNT_DISTINCT,
}
#: Those to which it is all the same whether a value comes once or often.
_BLIND_TO_REPEATS: Final = frozenset(name for name, own in _WEIGHTED.items() if own in {"lakeward_min", "lakeward_max"})
_BOUNDED: Final = "or ask once, of the table as it is now: SET 'execution.runtime-mode' = 'batch'."
_INSTEAD: Final = {
    **dict.fromkeys(("FIRST_VALUE", "LAST_VALUE", "FIRST", "LAST", "ANY_VALUE"), "take MIN or MAX,"),
    **dict.fromkeys(("LISTAGG", "STRING_AGG", "COLLECT", "ARRAY_AGG"), "take COUNT(DISTINCT …), MIN or MAX,"),
    **dict.fromkeys(("COLLECT_LIST", "COLLECT_SET"), "take COUNT(DISTINCT …), MIN or MAX,"),
    "APPROX_COUNT_DISTINCT": "take COUNT(DISTINCT …),",
}
_KNOWN: Final = "take COUNT, SUM, AVG, MIN, MAX, VAR_POP or STDDEV_POP,"


@dataclass(frozen=True, slots=True)
class _Aggregate:
    """A call in its parts."""

    call: exp.Anonymous
    name: str
    values: list[exp.Expr]
    is_distinct: bool
    condition: exp.Expr | None

    @classmethod
    def of(cls, tree: exp.Expr) -> _Aggregate:
        """Of a call, or of a call with FILTER."""
        condition = tree.expression.this if isinstance(tree, exp.Filter) else None
        call = tree.this if isinstance(tree, exp.Filter) else tree
        if isinstance(call, exp.WithinGroup):
            call = call.this
        assert isinstance(call, exp.Anonymous), f"no call of an aggregate: {tree!r}"
        values = call.expressions
        is_distinct = len(values) == 1 and isinstance(values[0], exp.Distinct)
        return cls(
            call, str(call.this).upper(), values[0].expressions if is_distinct else values, is_distinct, condition
        )

    def kept_value(self, value: exp.Expr, otherwise: exp.Expr) -> exp.Expr:
        """A value, where FILTER keeps the row; nothing else is computed for a row that it leaves out."""
        if self.condition is None:
            return value.copy()
        return _spark("IF", self.condition.copy(), value.copy(), otherwise)

    def kept_values(self) -> list[exp.Expr]:
        """All values, NULL where FILTER leaves a row out: aggregates pass over it."""
        return [self.kept_value(value, exp.Null()) for value in self.values]

    def refuse(self, reason: str, instead: str) -> ScriptError:
        """Why a call does not run, and what does."""
        shown = f"{self.name}({'DISTINCT ' if self.is_distinct else ''}…)"
        return ScriptError(place_of(self.call), f"{shown} {reason}: {instead} {_BOUNDED}")


def weigh(call: exp.Expr, weight: exp.Expr) -> exp.Expr:
    """An aggregate over rows that have a weight, as Spark computes it right."""
    parts = _Aggregate.of(call)
    if parts.name == _COUNT and parts.is_distinct:
        return _spark(_COUNT_DISTINCT, *parts.kept_values(), weight.copy())
    if parts.name == _COUNT:
        return _sum(_count_weight(parts, weight))
    if parts.name == "COUNT_IF" and not parts.is_distinct and len(parts.values) == 1:
        return _sum(_spark("IF", parts.kept_value(parts.values[0], exp.false()), weight.copy(), _zero()))
    own = _WEIGHTED.get(parts.name)
    if own is None or len(parts.values) != 1 or isinstance(call, exp.WithinGroup):
        raise parts.refuse("cannot take rows back that were updated or deleted", _INSTEAD.get(parts.name, _KNOWN))
    if parts.is_distinct and parts.name not in _BLIND_TO_REPEATS:
        raise parts.refuse("cannot take rows back that were updated or deleted", _KNOWN)
    return _spark(own, *parts.kept_values(), weight.copy())


def add_up(call: exp.Expr) -> exp.Expr:
    """An aggregate over a stream whose rows are only added, as Spark runs it."""
    parts = _Aggregate.of(call)
    if not parts.is_distinct:
        return call
    if parts.name == _COUNT:
        return _spark(_COUNT_DISTINCT, *parts.kept_values(), exp.Literal.number(1))
    if parts.name not in _BLIND_TO_REPEATS:
        raise parts.refuse("does not run on a stream", "leave DISTINCT out, or take COUNT(DISTINCT …),")
    plain = call.copy()
    found = plain.find(exp.Anonymous)
    assert found is not None
    found.set("expressions", [value.copy() for value in parts.values])
    return plain


def _count_weight(parts: _Aggregate, weight: exp.Expr) -> exp.Expr:
    """What a row adds to COUNT: its weight, or nothing where a value is NULL."""
    if len(parts.values) == 1 and isinstance(parts.values[0], exp.Star):
        return parts.kept_value(weight, _zero())
    missing = [_spark("ISNULL", value) for value in parts.kept_values()]
    return _spark("IF", exp.or_(*missing, copy=False), _zero(), weight.copy())


def _sum(value: exp.Expr) -> exp.Expr:
    """No rows at all are 0, as COUNT has it."""
    return _spark("COALESCE", _spark("SUM", value), _zero())


def _zero() -> exp.Expr:
    return exp.Literal.number(0)


def _spark(name: str, *arguments: exp.Expr) -> exp.Anonymous:
    """A call of a function of Spark's, which means what it means there."""
    made = exp.Anonymous(this=name, expressions=list(arguments))
    made.meta["is_spark"] = True
    return made
