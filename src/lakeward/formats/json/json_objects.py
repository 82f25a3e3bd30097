"""Messages → the objects that they are, and what is said of those that are none."""

from __future__ import annotations

import json
from collections.abc import Sequence

import numpy as np

from lakeward.formats.json.json_grammar_kernels import DEPTH_MAX
from lakeward.formats.json.json_kernels import DEEP, cut_entries, look_at_roots
from lakeward.formats.values.faults import Faults
from lakeward.formats.values.messages import values_of
from lakeward.formats.values.values import ARRAY, I64, MISSING, OBJECT, STRING, U8, Values


def objects_of(messages: Sequence[bytes | None], faults: Faults, *, spread: bool = False) -> Values:
    """Each message as an object; with `spread`, an array as the objects in it."""
    values = values_of(messages, faults)
    look_at_roots(values.starts, values.ends, values.kinds)
    is_array = values.kinds == ARRAY
    if spread and is_array.any():
        inner = _elements(values.take(is_array), messages, faults)
        values = _merge(values.take(~is_array), inner)
    is_object = values.kinds == OBJECT
    if is_object.all():
        return values
    for index in np.flatnonzero(~is_object).tolist():
        is_empty = values.kinds[index] == MISSING
        faults.add(values.owners[index], "it is empty" if is_empty else f"it is not an object: {values.show(index)}")
    return values.take(is_object)


def tell_wrong(owners: I64, wrong: U8, messages: Sequence[bytes | None], faults: Faults) -> None:
    """Say what is wrong with messages that are not JSON."""
    for index in np.flatnonzero(wrong).tolist():
        owner = int(owners[index])
        deep = f"it is nested more than {DEPTH_MAX} levels deep"
        faults.replace(owner, deep if wrong[index] == DEEP else _why(messages[owner] or b""))


def _elements(arrays: Values, messages: Sequence[bytes | None], faults: Faults) -> Values:
    """What is in the arrays; that which is no object is shown as a text."""
    counts, wrong, _, items = cut_entries(arrays.starts, arrays.ends, arrays.kinds, ARRAY)
    tell_wrong(arrays.owners, wrong, messages, faults)
    starts, ends, kinds = items
    kinds = np.where(kinds == OBJECT, kinds, STRING).astype(np.uint8)
    return Values(arrays.held, starts, ends, kinds, np.repeat(arrays.owners, counts))


def _merge(one: Values, other: Values) -> Values:
    """Both, in the order of their messages; they lie in the same buffer."""
    owners = np.concatenate([one.owners, other.owners])
    order = np.argsort(owners, kind="stable")
    starts = np.concatenate([one.starts, other.starts])[order]
    ends = np.concatenate([one.ends, other.ends])[order]
    return Values(one.held, starts, ends, np.concatenate([one.kinds, other.kinds])[order], owners[order])


def _why(message: bytes) -> str:
    """What Python's own parser says of a message, where it is as strict."""
    try:
        json.loads(message, strict=False)
    except (ValueError, RecursionError) as wrong:
        return f"it is not JSON: {wrong}"
    return "it is not JSON"
