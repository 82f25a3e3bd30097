"""TokenReader: words, names, numbers and signs of an SQL-like text, read from left to right."""

from __future__ import annotations

import re
from typing import NamedTuple, NoReturn

from lakeward.errors import ErrorCode

_TOKEN = re.compile(
    r"(?P<space>\s+)|(?P<word>[^\W\d]\w*)|(?P<number>\d+)|(?P<quoted>`(?:[^`]|``)+`|\"(?:[^\"]|\"\")+\")"
    r"|(?P<text>'(?:[^']|'')*')|(?P<sign>[(),<>:])"
)
_SHOWN_BEFORE, _SHOWN_AFTER = 60, 40


class Token(NamedTuple):
    """A piece of the text and its place."""

    kind: str
    text: str
    at: int

    @property
    def label(self) -> str:
        """The token as a message names it."""
        return f"'{self.text}'" if self.text else "the end"


class TokenReader:
    """Steps through a text; every refusal shows the text with a mark under the place."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = self._split()
        self._next = 0

    def _split(self) -> list[Token]:
        tokens, at = [], 0
        while at < len(self._text):
            match = _TOKEN.match(self._text, at)
            if match is None:
                self._refuse_at(at, f"'{self._text[at]}' is not expected")
            if match.lastgroup != "space":
                assert match.lastgroup is not None
                tokens.append(Token(match.lastgroup, match.group(), at))
            at = match.end()
        tokens.append(Token("end", "", at))
        return tokens

    @property
    def token(self) -> Token:
        """The next token."""
        return self._tokens[self._next]

    def comes(self, words: str) -> bool:
        """Whether these words or signs come next; words are written in capitals."""
        wanted = words.split()
        found = self._tokens[self._next : self._next + len(wanted)]
        return [t.text.upper() for t in found] == wanted

    def take(self, words: str) -> bool:
        """Step over these words or signs if they come next."""
        if not self.comes(words):
            return False
        self._next += len(words.split())
        return True

    def expect(self, words: str) -> None:
        """Step over these words or signs, or refuse."""
        if not self.take(words):
            self.refuse(f"expected {words}, found {self.token.label}")

    def take_kind(self, kind: str, wanted: str) -> Token:
        """Step over a token of one kind, or refuse."""
        token = self.token
        if token.kind != kind:
            self.refuse(f"expected {wanted}, found {token.label}")
        self._next += 1
        return token

    def name(self) -> str:
        """Step over a name, plain or in quotes."""
        if self.token.kind == "quoted":
            text = self.take_kind("quoted", "a name").text
            return text[1:-1].replace(text[0] * 2, text[0])
        return self.take_kind("word", "a name").text

    def number(self, least: int, most: int) -> int:
        """Step over a number within bounds."""
        token = self.take_kind("number", f"a number from {least} to {most}")
        if len(token.text) > len(str(most)) or not least <= int(token.text) <= most:
            self.refuse(f"expected a number from {least} to {most}, found {token.label}", token)
        return int(token.text)

    def end(self) -> None:
        """Refuse whatever is left."""
        if self.token.kind != "end":
            self.refuse(f"{self.token.label} is not expected here")

    def refuse(self, why: str, token: Token | None = None) -> NoReturn:
        """Raise, marking the place of a token, the next one unless told."""
        self._refuse_at((token or self.token).at, why)

    def _refuse_at(self, at: int, why: str) -> NoReturn:
        start = max(0, at - _SHOWN_BEFORE)
        line = re.sub(r"\s", " ", self._text[start : at + _SHOWN_AFTER])
        raise ErrorCode.INVALID_TABLE.error(f"{why}:\n  {line}\n  {' ' * (at - start)}^")
