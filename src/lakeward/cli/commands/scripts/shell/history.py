"""StatementHistory: what was typed before, in a private file; statements that hold a secret are not kept there."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator
from pathlib import Path

from prompt_toolkit.history import History

from lakeward.cli.commands.scripts.shell.completion.words import is_command
from lakeward.options.secrets import is_of_secret, without_passwords
from lakeward.runtime.files.private_files import FILE_MODE, private_directory

_FILE_BYTES_MAX = 2 << 20
_STATEMENT_MAX = 64 << 10
_STATEMENTS_KEPT = 2000


class StatementHistory(History):
    """A JSON text per line, the last one last; several shells may add to it at once."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self._path = path

    def load_history_strings(self) -> Iterator[str]:
        """The last first; a line that is damaged is no reason to forget the others."""
        found: list[str] = []
        for line in self._lines():
            with contextlib.suppress(ValueError):
                text = json.loads(line)
                if isinstance(text, str) and text != (found[-1] if found else None):
                    found.append(text)
        return reversed(found)

    def append_string(self, string: str) -> None:
        """What was typed just now; words such as `exit` are not worth it."""
        if not is_command(string):
            super().append_string(string)

    def store_string(self, string: str) -> None:
        """Keep a statement, if it may be kept; a full disk or a missing right is no reason to stop typing."""
        if not may_be_kept(string):
            return
        with contextlib.suppress(OSError):
            private_directory(self._path.parent)
            descriptor = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, FILE_MODE)
            try:
                os.write(descriptor, json.dumps(string).encode() + b"\n")
            finally:
                os.close(descriptor)

    def _lines(self) -> list[bytes]:
        try:
            lines = self._path.read_bytes().splitlines()
        except OSError:
            return []
        if sum(map(len, lines)) > _FILE_BYTES_MAX:
            lines = lines[-_STATEMENTS_KEPT:][-max(1, len(lines) // 2) :]
            with contextlib.suppress(OSError):
                shorter = self._path.with_suffix(f".{os.getpid()}")
                shorter.touch(FILE_MODE)
                shorter.write_bytes(b"\n".join(lines) + b"\n")
                shorter.replace(self._path)
        return lines


def may_be_kept(text: str) -> bool:
    """Whether a statement is short enough and holds nothing that sounds like a secret."""
    return len(text) <= _STATEMENT_MAX and not is_of_secret(text) and without_passwords(text) == text
