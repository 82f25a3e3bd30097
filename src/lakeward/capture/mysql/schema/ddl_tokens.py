"""Words of a statement of MySQL or MariaDB, comments left out but for those that the server runs."""

from __future__ import annotations

import re
from dataclasses import dataclass

from lakeward.errors import ErrorCode

_TOKEN = re.compile(
    r"""(?P<space>\s+|--(?=\s|$)[^\n]*|\#[^\n]*|/\*(?!M?!)(?:.|\n)*?\*/|/\*M?!\d*|\*/)
      |(?P<name>`(?:[^`]|``)*`)
      |(?P<text>'(?:[^'\\]|''|\\.)*'|"(?:[^"\\]|""|\\.)*")
      |(?P<word>[\w$@\u0080-\uffff]+)
      |(?P<sign>.)""",
    re.VERBOSE | re.DOTALL,
)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "0": "\0", "b": "\b", "Z": "\x1a"}


@dataclass(frozen=True, slots=True)
class Token:
    """`kind` is name (in backticks), text (in quotes), word or sign; `text` is without quotes, `raw` as written."""

    kind: str
    text: str
    raw: str

    @property
    def word(self) -> str:
        """A keyword in capitals; empty for what is quoted."""
        return self.text.upper() if self.kind in {"word", "sign"} else ""


def tokens_of(statement: str) -> list[Token]:
    """All words of a statement."""
    out = []
    for found in _TOKEN.finditer(statement):
        kind, raw = found.lastgroup or "sign", found[0]
        if kind == "space":
            continue
        text = raw
        if kind == "name":
            text = raw[1:-1].replace("``", "`")
        elif kind == "text":
            text = re.sub(rf"\\(.)|({raw[0]}){raw[0]}", _unescape, raw[1:-1], flags=re.DOTALL)
        out.append(Token(kind, text, raw))
    return out


def _unescape(part: re.Match[str]) -> str:
    return _ESCAPES.get(part[1], part[1]) if part[1] else part[2]


class TokenReader:
    """Tokens one after the other; what cannot be read raises an InvalidError, and the caller asks the server."""

    def __init__(self, tokens: list[Token]) -> None:
        self._tokens = tokens
        self._at = 0

    @property
    def is_done(self) -> bool:
        """Whether nothing is left."""
        return self._at >= len(self._tokens)

    def peek(self, ahead: int = 0) -> Token:
        """A token that is not taken yet."""
        at = self._at + ahead
        return self._tokens[at] if at < len(self._tokens) else Token("end", "", "")

    def take(self) -> Token:
        """The next token."""
        token = self.peek()
        self._at += 1
        return token

    def accept(self, *words: str) -> bool:
        """Take these words if they come next."""
        if [self.peek(i).word for i in range(len(words))] != list(words):
            return False
        self._at += len(words)
        return True

    def name(self) -> str:
        """The next token as a name."""
        token = self.take()
        if token.kind not in {"name", "word", "text"}:
            raise unreadable(token.raw)
        return token.text

    def group(self) -> list[Token]:
        """What stands between brackets; the opening one comes next."""
        if self.take().raw != "(":
            raise unreadable(self.peek(-1).raw)
        inside: list[Token] = []
        depth = 1
        while not self.is_done:
            token = self.take()
            depth += {"(": 1, ")": -1}.get(token.raw if token.kind == "sign" else "", 0)
            if not depth:
                return inside
            inside.append(token)
        raise unreadable("(")


def split_by_commas(tokens: list[Token]) -> list[list[Token]]:
    """Parts between commas that are in no brackets."""
    parts: list[list[Token]] = [[]]
    depth = 0
    for token in tokens:
        sign = token.raw if token.kind == "sign" else ""
        depth += {"(": 1, ")": -1}.get(sign, 0)
        if sign == "," and not depth:
            parts.append([])
        else:
            parts[-1].append(token)
    return [part for part in parts if part]


def unreadable(near: str) -> Exception:
    """The error for a statement that is not understood here."""
    return ErrorCode.INVALID_ALTER_TABLE.error(f"The statement cannot be read near '{near[:40]}'.")
