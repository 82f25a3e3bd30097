"""SecretText: a text that nobody is shown, or where it is kept: `${env:NAME}` or `file:/path`.

A reference is no secret: it may travel and be printed, and is looked up by whoever needs the text, each time anew. So a
password that was changed in its file is the new one from the next login on.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Mapping

from lakeward.errors import ErrorCode, LakewardError
from lakeward.options.secrets import HIDDEN, is_of_secret, is_reference

BYTES_MAX = 1 << 16
_ENV = re.compile(r"\$\{env:([^}]*)\}")
_FILE = "file:"
_OTHERS = 0o077


class SecretText:
    """The value of an option that may be a secret."""

    __slots__ = ("_text", "key")

    def __init__(self, key: str, text: str) -> None:
        self.key = key
        self._text = text

    def reveal(self, environment: Mapping[str, str] = os.environ) -> str:
        """The text itself; INVALID_CONFIG when it is not where the option says."""
        variable = _ENV.fullmatch(self._text)
        if variable is not None:
            return self._of_environment(variable[1], environment)
        if self._text.startswith(_FILE):
            return self._of_file(self._text.removeprefix(_FILE))
        return self._text

    def __repr__(self) -> str:
        return f"SecretText({self._text if is_reference(self._text) else HIDDEN})"

    def _of_environment(self, name: str, environment: Mapping[str, str]) -> str:
        value = environment.get(name)
        if value is None:
            raise self._wrong(f"the environment of this process has no variable {name}")
        return value

    def _of_file(self, path: str) -> str:
        """What a file says, without the newline at its end."""
        try:
            content = read_private(path, BYTES_MAX)
        except OSError as wrong:
            raise self._wrong(f"{path} cannot be read: {wrong.strerror or wrong}") from None
        except ValueError as wrong:
            raise self._wrong(str(wrong)) from None
        try:
            return content.decode().rstrip("\r\n")
        except UnicodeDecodeError:
            raise self._wrong(f"{path} is not UTF-8") from None

    def _wrong(self, why: str) -> LakewardError:
        return ErrorCode.INVALID_CONFIG.error(f"'{self.key}': {why}.")


def reveal_secrets(options: Mapping[str, str]) -> dict[str, str]:
    """Options that somebody here has given, with their secrets looked up.

    Never those of others: whoever writes a table's properties would name files of whoever reads the table.
    """
    return {key: SecretText(key, value).reveal() if _may_be_secret(key) else value for key, value in options.items()}


def _may_be_secret(key: str) -> bool:
    return is_of_secret(key) or key.rpartition(".")[2] == "token"


def read_private(path: str, bytes_max: int) -> bytes:
    """What a file holds that is for its owner alone; ValueError if others may read it, or if it is too large."""
    with open(path, "rb", opener=_open_without_waiting) as file:
        kind = os.fstat(file.fileno()).st_mode
        if not stat.S_ISREG(kind):
            raise ValueError(f"{path} is not a file")
        if kind & _OTHERS:
            raise ValueError(f"others than its owner may read {path}; `chmod 600 {path}` keeps it private")
        content = file.read(bytes_max + 1)
    if len(content) > bytes_max:
        raise ValueError(f"{path} has more than {bytes_max} bytes")
    return content


def _open_without_waiting(path: str, flags: int) -> int:
    """A pipe that nobody writes to is an error, not a pause."""
    return os.open(path, flags | os.O_NONBLOCK)
