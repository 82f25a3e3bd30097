"""What "the last one added" of a request is, by its number.

Requests name a schema, a spec or an order that they have just added by -1. pyiceberg takes the highest number for it,
which it need not be: "not sorted" is 0, added after any other.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_LAST = -1
#: What adds one: where the new one stands, and the name of its number.
_ADDED = {
    "add-schema": ("schema", "schema-id"),
    "add-spec": ("spec", "spec-id"),
    "add-sort-order": ("sort-order", "order-id"),
}
#: What chooses one: the name of its number there, and what adds such.
_CHOSEN = {
    "set-current-schema": ("schema-id", "add-schema"),
    "set-default-spec": ("spec-id", "add-spec"),
    "set-default-sort-order": ("sort-order-id", "add-sort-order"),
}


def with_last_added(request: Mapping[str, Any]) -> Mapping[str, Any]:
    """A request with numbers for -1 in its updates; what is no update stays, to be refused by who reads it."""
    updates = request.get("updates")
    if not isinstance(updates, list) or not all(isinstance(update, Mapping) for update in updates):
        return request
    added: dict[str, Any] = {}
    return {**request, "updates": [_with_number(update, added) for update in updates]}


def _with_number(update: Mapping[str, Any], added: dict[str, Any]) -> Mapping[str, Any]:
    action = str(update.get("action"))
    if action in _ADDED:
        field, number = _ADDED[action]
        new = update.get(field)
        added[action] = new.get(number) if isinstance(new, Mapping) else None
    elif action in _CHOSEN:
        number, adding = _CHOSEN[action]
        if update.get(number) == _LAST and added.get(adding) is not None:
            return {**update, number: added[adding]}
    return update
