"""JAAS: how Java writes users down: `…PlainLoginModule required user_alice="her password" user_bob="his";`."""

from __future__ import annotations

import re

_TOKEN = re.compile(
    r"""(?P<space>\s+|//[^\n]*|/\*.*?\*/)"""
    r"""|(?P<quoted>"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')"""
    r"""|(?P<mark>[=;])"""
    r"""|(?P<word>[^\s=;"'/]+)""",
    re.DOTALL,
)
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
_LETTERS = {"n": "\n", "t": "\t", "r": "\r"}
_FLAGS = {"required", "requisite", "sufficient", "optional"}
_USER = "user_"
_FORM = f'write …PlainLoginModule required {_USER}NAME="password";'


def users_of(text: str) -> dict[str, str]:
    """Name → password; ValueError, which quotes nothing of it, when it is not of that form or names nobody."""
    tokens = _tokens(text)
    if len(tokens) < 3 or tokens[1].lower() not in _FLAGS or tokens[-1] != ";":
        raise ValueError(f"it is not of the form that Java writes; {_FORM}")
    entries = tokens[2:-1]
    if len(entries) % 3 or any(mark != "=" for mark in entries[1::3]):
        raise ValueError(f"it is not of the form that Java writes; {_FORM}")
    users: dict[str, str] = {}
    for key, value in zip(entries[::3], entries[2::3], strict=True):
        if key.startswith(_USER):
            if key in users:
                raise ValueError("it names somebody twice")
            users[key] = value
    found = {key.removeprefix(_USER): password for key, password in users.items()}
    if not found or not all(found) or not all(found.values()):
        raise ValueError(f"it names nobody, or somebody without a password; {_FORM}")
    return found


def _tokens(text: str) -> list[str]:
    tokens, position = [], 0
    while position < len(text):
        found = _TOKEN.match(text, position)
        if found is None:
            raise ValueError(f"a quotation mark or a comment does not end; {_FORM}")
        position = found.end()
        if found.lastgroup == "quoted":
            tokens.append(_ESCAPED.sub(lambda one: _LETTERS.get(one[1], one[1]), found[0][1:-1]))
        elif found.lastgroup != "space":
            tokens.append(found[0])
    return tokens
