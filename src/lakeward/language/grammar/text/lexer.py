"""Tokens of a script: words, names in backticks, texts, numbers, hints and signs, each with its place."""

from __future__ import annotations

import re
from typing import NamedTuple

from lakeward.language.grammar.text.script_text import ScriptText
from lakeward.language.place import ScriptError

_PATTERN = re.compile(
    r"(?P<space>[\s\ufeff\u200b]+|--[^\n]*|/\*(?!\+)[^*]*\*+(?:[^/*][^*]*\*+)*/)"
    r"|(?P<raw>[rR](?:'[^']*'|\"[^\"]*\"))"
    r"|(?P<hex>[xX]'[0-9A-Fa-f]*')"
    r"|(?P<number>(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?(?:[bB][dD]|[lLsSyYdDfF])?(?![\w$]))"
    r"|(?P<word>\w[\w$]*)"
    r"|(?P<text>'[^']*(?:''[^']*)*'|\"(?:[^\"\\]|\\.|\"\")*\")"
    r"|(?P<quoted>`[^`]*(?:``[^`]*)*`)"
    r"|(?P<hint>/\*\+[^*]*\*+(?:[^/*][^*]*\*+)*/)"
    r"|(?P<open>['\"`‘’“”]|/\*)"
    r"|(?P<sign><=>|<>|<=|>=|!=|==|\|\||\|>|->|=>|::|.)",
    re.DOTALL,
)
_CLOSED_BY = {"'": "'", '"': '"', "`": "`", "/*": "*/"}
_ESCAPE = re.compile(r"\\(u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8}|[0-3][0-7]{2}|.)", re.DOTALL)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "0": "\0", "Z": "\x1a", "%": "\\%", "_": "\\_"}


class Token(NamedTuple):
    """A piece of the script: `key` is its text in capitals for words, for others the text itself."""

    kind: str
    text: str
    key: str
    start: int
    end: int

    @property
    def value(self) -> str:
        """What a text or a quoted name stands for."""
        match self.kind:
            case "text" | "quoted" if self.text[0] == '"':
                return _ESCAPE.sub(_unescape, self.text[1:-1].replace('""', '"'))
            case "text" | "quoted":
                return self.text[1:-1].replace(self.text[0] * 2, self.text[0])
            case "raw" | "hex":
                return self.text[2:-1]
            case _:
                return self.text


class Tokens(NamedTuple):
    """The tokens of a script up to its end, or up to a quote or comment that is never closed."""

    tokens: list[Token]
    fault: ScriptError | None


def read_tokens(script: ScriptText, start: int = 0, end: int | None = None) -> Tokens:
    """The tokens between two offsets of a script; comments are left out, hints are not."""
    tokens: list[Token] = []
    for match in _PATTERN.finditer(script.text, start, len(script.text) if end is None else end):
        kind = match.lastgroup
        assert kind is not None
        if kind == "space":
            continue
        text = match.group()
        if kind == "open":
            return Tokens(tokens, _open_fault(script, text, match.start()))
        key = text.upper() if kind == "word" else text
        tokens.append(Token(kind, text, key, match.start(), match.end()))
    return Tokens(tokens, None)


def _open_fault(script: ScriptText, opener: str, at: int) -> ScriptError:
    if opener not in _CLOSED_BY:
        return ScriptError(script.place(at), f"{opener} is a quote of word processors; expected ' or `.")
    what = "comment" if opener == "/*" else "quote"
    sentence = f"the {what} that is opened here is never closed; expected {_CLOSED_BY[opener]} at its end."
    if opener == "'":
        sentence += " Inside a text a single quote is written twice: ''."
    return ScriptError(script.place(at), sentence)


def _unescape(match: re.Match[str]) -> str:
    code = match.group(1)
    if code[0] in "uU" and len(code) > 1:
        return chr(int(code[1:], 16))
    if len(code) == 3:
        return chr(int(code, 8))
    return _ESCAPES.get(code, code)
