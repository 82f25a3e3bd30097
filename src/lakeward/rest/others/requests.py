"""Bodies of requests that change something: JSON of the right shape, names that are fit for folders."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from lakeward.rest.protocol.failures import bad_request
from lakeward.rest.protocol.names import NOW, NOW_TABLE

_NAME_MAX = 200
_UNFIT = re.compile(r"[\x00-\x1f\x7f/\\.%?*#]")


def json_object(body: bytes) -> dict[str, Any]:
    """What a request says."""
    try:
        told = json.loads(body or b"{}")
    except (ValueError, RecursionError):
        raise bad_request("The request is no JSON.") from None
    if not isinstance(told, dict):
        raise bad_request("The request is no JSON object.")
    return told


def name_given(told: object, what: str) -> str:
    """A name for something new."""
    if not isinstance(told, str) or not told or len(told) > _NAME_MAX or _UNFIT.search(told) or told != told.strip():
        raise bad_request(
            f"This cannot be the name of a {what}: {str(told)[:80]!r}. It has 1 to {_NAME_MAX} characters, none of "
            "which is a dot, a slash, %, ?, * or #."
        )
    if told == NOW or told.endswith(NOW_TABLE):
        raise bad_request(f"'{told[:80]}' means tables as they are now, and cannot be the name of another {what}.")
    return told


def namespace_given(told: object) -> str:
    """A namespace of one level, as requests name it."""
    if not isinstance(told, list) or len(told) != 1:
        raise bad_request("A namespace has one level here.")
    return name_given(told[0], "namespace")


def table_given(told: object) -> tuple[str, str]:
    """A table, as requests name it."""
    found = mapping_given(told, "a table's name")
    return namespace_given(found.get("namespace")), name_given(found.get("name"), "table")


def mapping_given(told: object, what: str) -> Mapping[str, Any]:
    """An object in a request."""
    if not isinstance(told, dict):
        raise bad_request(f"Where {what} should be there is something else.")
    return told


def texts_given(told: object) -> dict[str, str]:
    """Properties."""
    found = mapping_given({} if told is None else told, "properties")
    if not all(isinstance(value, str) for value in found.values()):
        raise bad_request("Values of properties are texts.")
    return dict(found)
