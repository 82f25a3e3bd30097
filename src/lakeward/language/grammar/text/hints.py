"""Hints on a table: /*+ OPTIONS('key' = 'value', …) */."""

from __future__ import annotations

from lakeward.language.grammar.text.lexer import Token, read_tokens
from lakeward.language.grammar.text.options import read_options
from lakeward.language.grammar.text.reader import Reader
from lakeward.language.grammar.text.script_text import ScriptText
from lakeward.language.grammar.text.split import Piece
from lakeward.language.statements.statement import Options


def is_options_hint(text: str) -> bool:
    """Whether a hint speaks of options."""
    return text[3:].lstrip()[:7].upper() == "OPTIONS"


def read_hint(script: ScriptText, token: Token) -> Options:
    """The options of a hint on a table."""
    tokens, fault = read_tokens(script, token.start + 3, token.end - 2)
    if fault is not None:
        raise fault
    reader = Reader(Piece(script, tokens or [token]), "hint")
    reader.expect("OPTIONS", " in a table's hint")
    options = read_options(reader)
    reader.end()
    return options


def take_hint(reader: Reader) -> Options | None:
    """Step over a table's hint if that is next."""
    token = reader.token
    if token is None or token.kind != "hint":
        return None
    reader.at += 1
    return read_hint(reader.piece.script, token)
