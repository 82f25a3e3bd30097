"""Position: the statement around the cursor, in tokens, and the word that is being typed."""

from __future__ import annotations

from dataclasses import dataclass

from lakeward.language.grammar.text.lexer import Token, read_tokens
from lakeward.language.grammar.text.script_text import ScriptText
from lakeward.language.place import Place

_NAMES = {"word", "quoted"}


@dataclass(frozen=True, slots=True)
class Position:
    """Where the cursor is."""

    before: tuple[Token, ...]
    """The tokens of the statement in front of the word, a path before it left out."""
    path: tuple[str, ...]
    """`a`, `b` where `a.b.` stands in front of the word."""
    word: str
    quote: str
    """The quote that the word is in, or an empty text; `/*` or `--` inside a comment."""
    statement: tuple[Token, ...]
    """All tokens of the statement, also those behind the cursor."""

    @property
    def last(self) -> str:
        """The key of the token in front."""
        return self.before[-1].key if self.before else ""

    @property
    def first(self) -> str:
        """The word that begins the statement."""
        return self.before[0].key if self.before else ""


def position_at(text: str, cursor: int) -> Position:
    """The position of an offset in a text."""
    before, word, quote = _read(text[:cursor])
    after = read_tokens(ScriptText(text[cursor:])).tokens
    start = max((at + 1 for at, token in enumerate(before) if token.key == ";"), default=0)
    end = next((at for at, token in enumerate(after) if token.key == ";"), len(after))
    tokens = before[start:]
    path: list[str] = []
    if quote in {"", "`"}:
        while len(tokens) >= 2 and tokens[-1].key == "." and tokens[-2].kind in _NAMES:
            path.insert(0, tokens[-2].value)
            tokens = tokens[:-2]
    return Position(tuple(tokens), tuple(path), word, quote, (*before[start:], *after[:end]))


def _read(text: str) -> tuple[list[Token], str, str]:
    """Whole tokens, the word that touches the end, and the quote that is open there."""
    tokens, fault = read_tokens(ScriptText(text))
    if fault is not None:
        at = _offset(text, fault.place)
        if text.startswith("/*+", at):
            inner, word, quote = _read(text[at + 3 :])
            return [*tokens, *inner], word, quote
        opener = "/*" if text.startswith("/*", at) else text[at]
        return tokens, text[at + len(opener) :], opener
    if tokens and tokens[-1].kind == "word" and tokens[-1].end == len(text):
        return tokens[:-1], tokens[-1].text, ""
    behind = text[tokens[-1].end if tokens else 0 :]
    return tokens, "", "--" if "--" in behind.rpartition("\n")[2] else ""


def _offset(text: str, place: Place) -> int:
    lines = text.split("\n")
    return sum(len(line) + 1 for line in lines[: place.line - 1]) + place.column - 1
