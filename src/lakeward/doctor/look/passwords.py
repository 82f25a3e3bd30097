"""Whether a password is one that everybody tries first."""

from __future__ import annotations

_TRIED_FIRST = frozenset(
    (
        *("", "admin", "administrator", "changeme", "default", "fluss", "guest", "lakeward", "letmein", "pass"),
        *("passw0rd", "password", "qwerty", "root", "secret", "test", "toor", "user", "welcome"),
        *("1234", "12345", "123456", "12345678"),
    )
)
_LETTERS_LEAST = 4


def is_weak(user: str, password: str) -> bool:
    """Whether it is on every list, the user's own name, or too short to be one."""
    plain = password.casefold().rstrip("!1")
    names = {user.casefold(), f"{user}123".casefold()}
    return len(password) < _LETTERS_LEAST or bool({plain, password.casefold()} & (_TRIED_FIRST | names))
