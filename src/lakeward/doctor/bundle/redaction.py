"""Redaction: the last pass over everything that leaves. Secrets are starred out, users become numbers.

A maintainer has to see which lines are of the same user, and need not know who that is.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Mapping
from typing import Any

from lakeward.options.secrets import HIDDEN, is_of_secret, is_reference, shown_value, without_passwords
from lakeward.runtime.secret_text import reveal_secrets

_PRINCIPAL = re.compile(r"\bUser:(?!\*)([^\s\"'\\,;]+)")
#: `name: value`, `name=value` and `"name": "value"` where the name sounds as if it held a secret.
_SETTING = re.compile(r"([\w.-]*)(\"?\s*[=:]\s*\"?)([^\s\"',;}{]+)")
#: What of a line of the audit log says what happened, not to whom it belongs.
_AUDIT_KEYS = ("time", "event", "outcome", "error", "times", "database", "table", "partition", "resource", "operation")
_SECRET_LEAST = 4
_NO_SECRETS = frozenset(("true", "false", "none", "null"))
_FIRST_USER = "LAKEWARD_FIRST_USER"


class Redaction:
    """Knows the secrets of this process, and the users it has met."""

    def __init__(self, secrets: Iterable[str]) -> None:
        self._secrets = sorted(
            {one for one in secrets if len(one) >= _SECRET_LEAST} - _NO_SECRETS, key=len, reverse=True
        )
        self._users: dict[str, str] = {}

    def clean(self, text: str) -> str:
        """A text that may be sent to strangers."""
        for secret in self._secrets:
            text = text.replace(secret, HIDDEN)
        text = _SETTING.sub(_star_out, without_passwords(text))
        return _PRINCIPAL.sub(lambda found: f"User:{self._number(found[1])}", text)

    def audit_line(self, line: str) -> str:
        """A line of the audit log: what happened, and by which of the users and addresses."""
        try:
            told: Any = json.loads(line)
        except ValueError:
            return ""
        if not isinstance(told, dict):
            return ""
        kept = {key: told[key] for key in _AUDIT_KEYS if key in told}
        for key in ("principal", "peer"):
            if key in told:
                kept[key] = self._number(str(told[key]).rpartition(":")[2 if key == "principal" else 0], key)
        return json.dumps(kept)

    def _number(self, name: str, kind: str = "principal") -> str:
        word = "user" if kind == "principal" else "address"
        return self._users.setdefault(f"{word} {name}", f"{word}-{len(self._users) + 1}")


def _star_out(found: re.Match[str]) -> str:
    name, between, value = found[1], found[2], found[3]
    return f"{name}{between}{HIDDEN}" if is_of_secret(name) and not is_reference(value) else found[0]


def properties(given: Mapping[str, str]) -> dict[str, str]:
    """Options or properties as strangers may see them."""
    return {key: without_passwords(shown_value(key, str(value))) for key, value in sorted(given.items())}


def secrets_of(options: Mapping[str, Any], environ: Mapping[str, str] = os.environ) -> list[str]:
    """What this process was given that sounds as if it were a secret, looked up where an option says where it is."""
    given = reveal_secrets({key: str(value) for key, value in options.items()})
    found = [value for key, value in {**environ, **given}.items() if is_of_secret(key) and not is_reference(value)]
    return [*found, environ.get(_FIRST_USER, "").partition(":")[2]]
