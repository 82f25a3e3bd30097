"""Options of security, none of which this release honours: who sets one is refused, lest a server be open unawares."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from lakeward.errors import ErrorCode, LakewardError
from lakeward.options.endpoint import Endpoint
from lakeward.options.kinds import MAP

PROTOCOL_MAP_KEY = "security.protocol.map"
AUTHORIZER_KEY = "authorizer.enabled"
_PLAIN = "PLAINTEXT"
_FAMILIES = ("security.", "authorizer.", "super.users", "acl.")
_MORE_THAN_PLAIN = ("SASL", "SSL", "TLS")


def is_of_security(key: str) -> bool:
    """Whether an option says who may do what."""
    return key.startswith(_FAMILIES)


def check_security(settings: Mapping[str, str]) -> None:
    """Refuse every option of security but those that say what holds anyway: plain text, and no grants."""
    for key, value in settings.items():
        if not is_of_security(key) or _is_no_wish(key, value):
            continue
        raise _refusal(f"'{key}' is set")


def check_listeners(listeners: Iterable[Endpoint]) -> None:
    """Refuse a listener whose name asks for more than plain text."""
    for listener in listeners:
        if any(word in listener.name.upper() for word in _MORE_THAN_PLAIN):
            raise _refusal(f"The listener '{listener.name}' asks for more than {_PLAIN}")


def _is_no_wish(key: str, value: str) -> bool:
    if key == PROTOCOL_MAP_KEY:
        try:
            return all(protocol.strip().upper() == _PLAIN for protocol in MAP.parse(value).values())
        except ValueError:
            return False
    return key == AUTHORIZER_KEY and value.strip().lower() == "false"


def _refusal(what: str) -> LakewardError:
    return ErrorCode.INVALID_CONFIG.error(
        f"{what}, and this release can neither encrypt nor ask who somebody is: it would be open to everybody who "
        f"reaches its port. Leave all of {', '.join(f'{one}*' for one in _FAMILIES)} out and use names of listeners "
        "without SASL, SSL or TLS to start an open server, in a network you trust."
    )
