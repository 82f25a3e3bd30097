"""Which names and passwords a user may have."""

from __future__ import annotations

import re

from lakeward.errors import ErrorCode, LakewardError
from lakeward.model.principal import ANONYMOUS
from lakeward.runtime.saslprep import prepared_text

NAME_CHARACTERS_MAX = 128
PASSWORD_CHARACTERS_MIN = 8
PASSWORD_CHARACTERS_MAX = 512
#: What separates names in options and grants, and what means everybody.
_NO_NAME = re.compile(r"[\s:;,*\"'\\]")


def checked_name(name: str) -> str:
    """A name as it is kept; INVALID_CONFIG says what is wrong with it."""
    kept = _prepared_text("The name of a user", name)
    if not 1 <= len(kept) <= NAME_CHARACTERS_MAX:
        raise _wrong(f"The name of a user has 1 to {NAME_CHARACTERS_MAX} characters, not {len(kept)}")
    found = _NO_NAME.search(kept)
    if found is not None:
        raise _wrong(f"The name of a user has no space and none of : ; , * \" ' \\, and '{kept}' has")
    if kept == ANONYMOUS.name:
        raise _wrong(f"'{kept}' is who comes without a login; nobody else may have that name")
    return kept


def checked_password(password: str) -> str:
    """A password as it was typed; INVALID_CONFIG, which does not show it, says what is wrong with it."""
    _prepared_text("The password", password)
    if not PASSWORD_CHARACTERS_MIN <= len(password) <= PASSWORD_CHARACTERS_MAX:
        raise _wrong(f"A password has {PASSWORD_CHARACTERS_MIN} to {PASSWORD_CHARACTERS_MAX} characters")
    return password


def _prepared_text(what: str, text: str) -> str:
    try:
        return prepared_text(text)
    except ValueError as wrong:
        raise _wrong(f"{what} cannot be taken: {wrong}") from None


def _wrong(what: str) -> LakewardError:
    return ErrorCode.INVALID_CONFIG.error(f"{what}.")
