"""Options of security that nothing here obeys: who sets one is refused, lest a server be open unawares."""

from __future__ import annotations

from collections.abc import Mapping

from lakeward.errors import ErrorCode, LakewardError
from lakeward.options.authentication import HONOURED as HONOURED_AT_THE_DOOR
from lakeward.options.authentication import is_listener_jaas
from lakeward.options.authorization import HONOURED as HONOURED_BY_GRANTS

_FAMILIES = ("security.", "authorizer.", "super.users", "acl.")
#: Keys that some part of the server obeys.
_HONOURED = frozenset((*HONOURED_AT_THE_DOOR, *HONOURED_BY_GRANTS))


def is_of_security(key: str) -> bool:
    """Whether an option says who may do what."""
    return key.startswith(_FAMILIES)


def is_refused(key: str) -> bool:
    """Whether an option says who may do what, and nothing here obeys it."""
    return is_of_security(key) and key not in _HONOURED and not is_listener_jaas(key)


def check_security(settings: Mapping[str, str]) -> None:
    """Refuse every option of security that nothing here obeys."""
    for key in settings:
        if is_refused(key):
            raise _refusal(f"'{key}' is set")


def _refusal(what: str) -> LakewardError:
    return ErrorCode.INVALID_CONFIG.error(
        f"{what}, and nothing here obeys it: the server would be open to everybody who reaches its port, or more open"
        " than somebody believes. Leave it out to start such a server, in a network you trust."
    )
