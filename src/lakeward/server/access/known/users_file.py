"""The file of users: names and salted hashes, in the data directory, for its owner alone.

    users.json   {"format": 1, "users": {"alice": {"salt": "…", "iterations": 32768, "stored_key": "…", …}}}

It is always replaced as a whole (`replace_file`): whoever reads it, also after a crash, sees all of a change or nothing
of it. Two who change it at the same time take turns (`users.lock`).
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from lakeward.errors import ErrorCode, LakewardError
from lakeward.runtime.files.port import Files
from lakeward.runtime.files.whole_file import replace_file
from lakeward.runtime.scram import ITERATIONS_MAX, ITERATIONS_MIN, ScramSecret
from lakeward.server.access.known.user_names import checked_name

USERS_FILE = "users.json"
LOCK_FILE = "users.lock"
USERS_MAX = 10_000
_BYTES_MAX = 8 << 20
_FORMAT = 1
_KEY_BYTES = 32


@dataclass(frozen=True, slots=True)
class User:
    """What is kept of a user."""

    secret: ScramSecret
    created_ms: int
    changed_ms: int

    def since(self, created_ms: int) -> User:
        """The same, made at another time."""
        return replace(self, created_ms=created_ms)


def read_users(disk: Files, path: Path) -> dict[str, User]:
    """Who is in the file; nobody when there is none. STORAGE when it cannot be trusted."""
    if not disk.exists(path):
        return {}
    if not disk.is_private(path):
        raise _mistrust(path, f"others than its owner may read or change it; `chmod 600 {path}` keeps it private")
    if disk.facts(path).size > _BYTES_MAX:
        raise _mistrust(path, f"it has more than {_BYTES_MAX} bytes")
    try:
        return _users_of(json.loads(disk.read_bytes(path)))
    except (ValueError, KeyError, TypeError, AttributeError, LakewardError):  # what it says is not repeated
        raise _mistrust(path, "it is damaged; put a copy of it back, or remove it and make the users again") from None


def write_users(disk: Files, path: Path, users: Mapping[str, User]) -> None:
    """Replace the file; it lasts when this returns."""
    if len(users) > USERS_MAX:
        raise ErrorCode.INVALID_CONFIG.error(f"There are {USERS_MAX} users, and there may be no more.")
    document = {"format": _FORMAT, "users": {name: _fields(user) for name, user in sorted(users.items())}}
    replace_file(disk, path, json.dumps(document, indent=1).encode())


def _users_of(document: Any) -> dict[str, User]:
    if document["format"] != _FORMAT or len(document["users"]) > USERS_MAX:
        raise ValueError("another format, or too many")
    return {checked_name(name): _user(fields) for name, fields in document["users"].items()}


def _user(fields: Mapping[str, Any]) -> User:
    iterations = fields["iterations"]
    salt, stored_key, server_key = (_bytes(fields[name]) for name in ("salt", "stored_key", "server_key"))
    if not isinstance(iterations, int) or not ITERATIONS_MIN <= iterations <= ITERATIONS_MAX:
        raise ValueError("iterations")
    if not salt or len(stored_key) != _KEY_BYTES or len(server_key) != _KEY_BYTES:
        raise ValueError("keys")
    secret = ScramSecret(salt, iterations, stored_key, server_key)
    return User(secret, int(fields["created_ms"]), int(fields["changed_ms"]))


def _fields(user: User) -> dict[str, object]:
    return {
        "salt": _text(user.secret.salt),
        "iterations": user.secret.iterations,
        "stored_key": _text(user.secret.stored_key),
        "server_key": _text(user.secret.server_key),
        "created_ms": user.created_ms,
        "changed_ms": user.changed_ms,
    }


def _text(value: bytes) -> str:
    return base64.b64encode(value).decode()


def _bytes(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except binascii.Error as wrong:
        raise ValueError("base64") from wrong


def _mistrust(path: Path, why: str) -> LakewardError:
    return ErrorCode.STORAGE.error(f"The users in {path} cannot be taken: {why}.")
