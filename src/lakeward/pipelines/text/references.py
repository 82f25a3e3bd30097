"""References: `${NAME}` is a variable of the environment, `${file:/path}` what a file holds, without its last newline.

`${env:NAME}` is the same as `${NAME}`, and is what options have elsewhere.

What comes by a reference is a secret: it is used, and told to nobody. `$${` is a plain `${`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path

_REFERENCE = re.compile(r"\$(\$\{)|\$\{([^{}]*)\}|\$\{")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_FILE = "file:"
_ENVIRONMENT = "env:"
_BYTES_MAX = 1 << 16


class References:
    """Fills them in; what cannot be filled in raises ValueError, which says why."""

    def __init__(self, environment: Mapping[str, str], read: Callable[[str], bytes] | None = None) -> None:
        self._environment = environment
        self._read = read or _read_file

    def fill(self, text: str) -> tuple[str, bool]:
        """The text with everything filled in, and whether anything was."""
        found = False

        def fill_one(match: re.Match[str]) -> str:
            nonlocal found
            if match[1]:
                return "${"
            if match[2] is None:
                raise ValueError("'${' is not closed; expected ${NAME} or ${file:/path}, and $${ for a plain ${")
            found = True
            return self._value(match[2].strip())

        return _REFERENCE.sub(fill_one, text), found

    def _value(self, name: str) -> str:
        if name.startswith(_FILE):
            return self._content(name.removeprefix(_FILE))
        name = name.removeprefix(_ENVIRONMENT)
        if not _NAME.fullmatch(name):
            raise ValueError(f"${{{name}}} is no reference; expected ${{NAME}} or ${{file:/path}}")
        value = self._environment.get(name)
        if value is None:
            raise ValueError(f"${{{name}}} is not set in the environment; set {name}, or name a file with ${{file:…}}")
        return value

    def _content(self, path: str) -> str:
        try:
            content = self._read(path)
        except OSError as wrong:
            raise ValueError(f"${{file:{path}}} cannot be read: {wrong.strerror or wrong}") from wrong
        if len(content) > _BYTES_MAX:
            raise ValueError(f"${{file:{path}}} is larger than {_BYTES_MAX >> 10} KiB; expected a file with one value")
        try:
            return content.decode().rstrip("\r\n")
        except UnicodeDecodeError:
            raise ValueError(f"${{file:{path}}} is not UTF-8") from None


def _read_file(path: str) -> bytes:
    with Path(path).open("rb") as file:
        return file.read(_BYTES_MAX + 1)
