"""Cut a script into statements at its semicolons, those inside a statement set excepted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from lakeward.language.grammar.text.lexer import Token, read_tokens
from lakeward.language.grammar.text.script_text import ScriptText
from lakeward.language.place import Place, ScriptError

#: END IF and the like close what is not counted here.
_COMPOUND = {"IF", "WHILE", "FOR", "LOOP", "REPEAT"}
#: What a BEGIN inside a block may follow; anywhere else it is a name.
_BEFORE_BLOCK = {";", ":", "BEGIN", "THEN", "ELSE", "DO", "LOOP"}
_CLOSED_BY = {"(": ")", "[": "]", "{": "}"}


@dataclass(frozen=True, slots=True)
class Piece:
    """The tokens of one statement, its semicolon left out, and the script that they stand in."""

    script: ScriptText
    tokens: Sequence[Token]
    number: int = 1

    @property
    def text(self) -> str:
        """The statement as it was written."""
        return self.script.text[self.tokens[0].start : self.tokens[-1].end]

    @property
    def place(self) -> Place:
        """Where the statement begins."""
        return self.script.place(self.tokens[0].start)


class _Cut(NamedTuple):
    """Tokens from `first` to `last`, without it; `begin` is the BEGIN of a block that no END follows."""

    first: int
    last: int
    is_closed: bool
    begin: int | None = None


def split_script(text: str) -> Iterator[Piece]:
    """The statements of a script, one after the other; what is never closed is told when it is reached."""
    script = ScriptText(text)
    tokens, fault = read_tokens(script)
    number = 0
    for cut in _cuts(tokens):
        if not cut.is_closed:
            if fault is not None:
                break
            if cut.begin is not None:
                raise ScriptError(script.place(tokens[cut.begin].start), "BEGIN without its END; expected END;.")
        if cut.first < cut.last:
            number += 1
            piece = Piece(script, tokens[cut.first : cut.last], number)
            _check_brackets(piece)
            yield piece
    if fault is not None:
        raise fault


def split_block(piece: Piece, first: int, last: int) -> Iterator[Piece]:
    """The statements between BEGIN and END."""
    start = first
    for at in range(first, last + 1):
        if at == last or piece.tokens[at].key == ";":
            if start < at:
                yield Piece(piece.script, piece.tokens[start:at], piece.number)
            start = at + 1


def leftover(text: str) -> str | None:
    """What follows the last semicolon that ends a statement; None where only comments do."""
    tokens, fault = read_tokens(ScriptText(text))
    closed = [cut for cut in _cuts(tokens) if cut.is_closed]
    next_token = closed[-1].last + 1 if closed else 0
    if next_token == len(tokens) and fault is None:
        return None
    return text[tokens[next_token - 1].end if next_token else 0 :]


def is_complete(text: str) -> bool:
    """Whether every statement of a text is ended by its semicolon, and no quote, comment or block is open."""
    return leftover(text) is None


def _cuts(tokens: Sequence[Token]) -> Iterator[_Cut]:
    first, depth, begin = 0, 0, 0
    for at, token in enumerate(tokens):
        before = tokens[at - 1].key if at > first else ""
        match token.key:
            case ";" if depth == 0:
                yield _Cut(first, at, is_closed=True)
                first = at + 1
            case "BEGIN" if depth == 0 and (at == first or (before == "SET" and tokens[at - 2].key == "STATEMENT")):
                depth, begin = 1, at
            case "BEGIN" if depth and before in _BEFORE_BLOCK:
                depth += 1
            case "CASE" if depth and before not in {".", "END"}:
                depth += 1
            case "END" if depth and before != ".":
                following = tokens[at + 1].key if at + 1 < len(tokens) else ""
                depth -= following not in _COMPOUND
            case _:
                pass
    if first < len(tokens):
        yield _Cut(first, len(tokens), is_closed=False, begin=begin if depth else None)


def _check_brackets(piece: Piece) -> None:
    """Refuse a bracket without its other half, at the place of the one that is there."""
    opened: list[Token] = []
    for token in piece.tokens:
        if token.key in _CLOSED_BY:
            opened.append(token)
        elif token.key == ";" and opened:
            break
        elif token.key in {")", "]", "}"}:
            if not opened:
                raise ScriptError(piece.script.place(token.start), f"'{token.text}' closes what was never opened.")
            expected = _CLOSED_BY[opened[-1].key]
            if token.key != expected:
                where = piece.script.place(opened[-1].start)
                sentence = f"expected '{expected}' for the '{opened[-1].text}' of {where}, found '{token.text}'."
                raise ScriptError(piece.script.place(token.start), sentence)
            opened.pop()
    if opened:
        sentence = f"'{opened[-1].text}' is opened here and never closed; expected '{_CLOSED_BY[opened[-1].key]}'."
        raise ScriptError(piece.script.place(opened[-1].start), sentence)
