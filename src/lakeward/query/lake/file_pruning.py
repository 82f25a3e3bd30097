"""Whether a file can hold a row that matches, by the bounds of its columns. One-sided: in doubt it can."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

from lakeward.lake.port import Bounds
from lakeward.query.request.filters import And, Compare, Filter, In, IsNull, NotNull, Or, StartsWith

#: Engines hold NaN to be the largest number; bounds do not know of it.
_BLIND_TO_NAN = {"<>", ">", ">="}
#: So many values are looked at one by one.
_FEW = 16


def may_match(filters: Iterable[Filter], bounds: Mapping[str, Bounds]) -> bool:
    """Whether a row within these bounds can pass all the filters."""
    return all(_may(f, bounds) for f in filters)


def judges(filter_: Filter) -> bool:
    """Whether a file can be left out by a filter at all, if only its bounds are known."""
    match filter_:
        case And(children):
            return any(judges(c) for c in children)
        case Or(children):
            return all(judges(c) for c in children)
        case Compare(op, _, value):
            return op != "<>" and value is not None
        case IsNull() | NotNull() | In() | StartsWith():
            return True
        case _:
            return False


def _may(filter_: Filter, bounds: Mapping[str, Bounds]) -> bool:
    match filter_:
        case And(children):
            return all(_may(c, bounds) for c in children)
        case Or(children):
            return any(_may(c, bounds) for c in children)
        case IsNull(name):
            return name not in bounds or bounds[name].nulls != 0
        case NotNull(name):
            return name not in bounds or not _only_nulls(bounds[name])
        case Compare(op, name, value) if name in bounds and value is not None:
            return not _only_nulls(bounds[name]) and _may_compare(op, bounds[name], value)
        case In(name, values) if name in bounds:
            if len(values) > _FEW and (ordered := _in_order(filter_)):
                return _may_hold(bounds[name], ordered)
            return any(v is None or _may_compare("=", bounds[name], v) for v in values)
        case StartsWith(name, value) if name in bounds:
            return _may_start(bounds[name], value)
        case _:
            return True


@lru_cache(maxsize=16)
def _in_order(listed: In) -> list[Any] | None:
    """The values of a long list in order, for many files; None where they have none."""
    kinds = {(type(value), getattr(value, "tzinfo", None) is None) for value in listed.values}
    return sorted(listed.values) if len(kinds) == 1 and not kinds & {(float, True), (type(None), True)} else None


def _may_hold(known: Bounds, ordered: list[Any]) -> bool:
    """Whether one of these values lies within the bounds."""
    low, high = (b if _is_comparable(b, ordered[0]) else None for b in (known.low, known.high))
    at = 0 if low is None else bisect_left(ordered, low)
    return at < len(ordered) and (high is None or bool(ordered[at] <= high))


def _only_nulls(known: Bounds) -> bool:
    return known.values is not None and known.nulls == known.values


def _may_compare(op: str, known: Bounds, value: Any) -> bool:
    low, high = (b if _is_comparable(b, value) else None for b in (known.low, known.high))
    if isinstance(value, float) and (value != value or op in _BLIND_TO_NAN):
        return True
    match op:
        case "=" | "<=>":
            return (low is None or low <= value) and (high is None or value <= high)
        case "<":
            return low is None or bool(low < value)
        case "<=":
            return low is None or bool(low <= value)
        case ">":
            return high is None or bool(high > value)
        case ">=":
            return high is None or bool(high >= value)
        case _:  # <>: bounds may be wider than the values, so they prove nothing
            return True


def _is_comparable(bound: Any, value: Any) -> bool:
    zones = (getattr(one, "tzinfo", None) is None for one in (bound, value))
    return type(bound) is type(value) and next(zones) is next(zones)


def _may_start(known: Bounds, prefix: str) -> bool:
    low, high = known.low, known.high
    above = isinstance(low, str) and low[: len(prefix)] > prefix
    below = isinstance(high, str) and high[: len(prefix)] < prefix
    return not (above or below)
