"""Text from tables, names and messages on its way to a terminal: nothing in it moves the cursor or changes colours."""

from __future__ import annotations

import logging
import os
import sys
from io import TextIOWrapper

from lakeward.options.secrets import without_passwords

_ESCAPES = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}
#: What JSON leaves as it is, and terminals obey.
_OF_JSON = {code: f"\\u{code:04x}" for code in (*range(0x7F, 0xA0), 0x2028, 0x2029)}


def has_colours() -> bool:
    """Whether the terminal knows any, and they are wanted; a dumb one would show them as letters."""
    return os.environ.get("TERM", "dumb") != "dumb" and not os.environ.get("NO_COLOR")


def show_all_text() -> None:
    """Characters that the terminal's encoding lacks are written out from now on, instead of ending the command."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper) and stream.errors == "strict":
            stream.reconfigure(errors="backslashreplace")


def one_line(text: str) -> str:
    """The text with every control character written out."""
    if text.isprintable():
        return text
    return "".join(_ESCAPES.get(c, c if c.isprintable() else _code(c)) for c in text)


def lines(text: str) -> str:
    """The same of a text of several lines, which stay lines."""
    return text if text.isprintable() else "\n".join(map(one_line, text.split("\n")))


def json_text(text: str) -> str:
    """JSON that holds no control character; it says what it said before."""
    return text if text.isascii() and "\x7f" not in text else text.translate(_OF_JSON)


def _code(character: str) -> str:
    code = ord(character)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


class PlainFormatter(logging.Formatter):
    """Lines of a log: control characters are written out, passwords in URLs left out."""

    def format(self, record: logging.LogRecord) -> str:
        """A record as text."""
        return lines(without_passwords(super().format(record)))
