"""Colours of what is typed: keywords, texts, numbers, comments."""

from __future__ import annotations

import re
from collections.abc import Callable

from prompt_toolkit.document import Document
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.lexers import Lexer
from prompt_toolkit.styles import Style

from lakeward.cli.commands.scripts.shell.completion.words import KEYWORDS

#: More than a person types: a paste of that size is shown without colours.
_TEXT_MAX = 50_000
_PARTS = re.compile(
    r"(?P<comment>--[^\n]*|/\*.*?(?:\*/|\Z))|(?P<text>'[^']*(?:'|\Z)|\"[^\"]*(?:\"|\Z))|(?P<name>`[^`]*(?:`|\Z))"
    r"|(?P<number>\b\d+(?:\.\d+)?\b)|(?P<word>\b[A-Za-z_]\w*\b)",
    re.DOTALL,
)
STYLE = Style.from_dict(
    {"keyword": "ansiblue bold", "text": "ansigreen", "comment": "ansibrightblack italic", "number": "ansicyan"}
)


class StatementLexer(Lexer):
    """Hands out lines in colours."""

    def lex_document(self, document: Document) -> Callable[[int], StyleAndTextTuples]:
        """A function from a line's number to its parts."""
        if len(document.text) > _TEXT_MAX:
            return lambda number: [("", document.lines[number])] if number < len(document.lines) else []
        lines = colour(document.text)
        return lambda number: lines[number] if number < len(lines) else []


def colour(text: str) -> list[StyleAndTextTuples]:
    """The lines of a text, each in parts with a style."""
    lines: list[StyleAndTextTuples] = [[]]

    def add(style: str, part: str) -> None:
        first, *more = part.split("\n")
        lines[-1].append((style, first))
        lines.extend([(style, line)] for line in more)

    end = 0
    for found in _PARTS.finditer(text):
        add("", text[end : found.start()])
        add(_style(found), found.group())
        end = found.end()
    add("", text[end:])
    return lines


def _style(found: re.Match[str]) -> str:
    kind = found.lastgroup or ""
    if kind == "word":
        return "class:keyword" if found.group().upper() in KEYWORDS else ""
    return f"class:{kind}" if kind in {"comment", "text", "number"} else ""
