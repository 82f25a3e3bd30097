"""FLUSS_PROPERTIES: the variable in which containers of Apache Fluss are given their settings.

Lines of `key: value`, as in its server.yaml, or of `key=value`. Where YAML has folded several of the latter into one
line, as it does in compose files, they are told apart again: a word with a dot and an equals sign begins a setting.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from lakeward.errors import ErrorCode
from lakeward.options.secrets import is_of_secret, without_passwords

VARIABLE = "FLUSS_PROPERTIES"
_SHOWN_MAX = 80
_SETTING = re.compile(r"([A-Za-z][\w.-]*)\s*(?:=|:(?=\s|$))\s*(.*)")
_NEXT_SETTING = re.compile(r"\s+(?=[A-Za-z][\w-]*(?:\.[\w-]+)+=)")
_FOLDED = re.compile(r"[A-Za-z][\w.-]*=")
_QUOTED = re.compile(r"""(["'])(.*)\1\s*(?:#.*)?""")
_COMMENT = re.compile(r"(?:^|\s)#.*")
_REFERENCE = re.compile(r"\$\{([A-Za-z_]\w*)\}")


def settings_of(text: str, environment: Mapping[str, str]) -> dict[str, str]:
    """The settings in a text; `${NAME}` in a value is a variable. The last of several with one key counts."""
    found: dict[str, str] = {}
    key = ""
    for number, line in enumerate(text.splitlines(), 1):
        for part in _parts(line.strip()):
            match = _SETTING.fullmatch(part)
            if match is None:
                raise _refusal(number, part, key)
            key = match[1]
            found[key] = _filled_in(number, key, _plain(match[2]), environment)
    return found


def _parts(line: str) -> list[str]:
    if not line or line.startswith("#"):
        return []
    return _NEXT_SETTING.split(line) if _FOLDED.match(line) else [line]


def _plain(value: str) -> str:
    """A value without its quotes, or without the comment behind it."""
    quoted = _QUOTED.fullmatch(value)
    return quoted[2] if quoted else _COMMENT.sub("", value).strip()


def _filled_in(number: int, key: str, value: str, environment: Mapping[str, str]) -> str:
    for name in _REFERENCE.findall(value):
        if name not in environment:
            raise ErrorCode.INVALID_CONFIG.error(
                f"{VARIABLE}, line {number}: '{key}' asks for the variable {name}, which is not set."
            )
    return _REFERENCE.sub(lambda reference: environment[reference[1]], value)


def _refusal(number: int, line: str, key_before: str) -> Exception:
    """What cannot be read may be the rest of a password."""
    is_shown = not is_of_secret(line) and not is_of_secret(key_before)
    what = f"'{without_passwords(line)[:_SHOWN_MAX]}'" if is_shown else "this line, which may hold a secret,"
    return ErrorCode.INVALID_CONFIG.error(
        f"{VARIABLE}, line {number}: {what} is not a setting; write key: value or key=value."
    )
