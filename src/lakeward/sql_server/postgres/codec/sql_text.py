"""SQL as text: cut into statements, words looked at, parameters put in. Postgres's lexical rules; no grammar."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from lakeward.errors import ErrorCode

_TOKEN = re.compile(
    r"""(?P<space>\s+|--[^\n\r]*)
    |(?P<comment>/\*)
    |(?P<dollars>\$(?:[^\W\d]\w*)?\$)
    |(?P<text>[eE]'(?:[^'\\]+|\\.|'')*+(?:'|\Z)|[xXbBnN]?'(?:[^']+|'')*+(?:'|\Z))
    |(?P<parameter>\$\d+)
    |(?P<word>[^\W\d][\w$]*)
    |(?P<quoted>"(?:[^"]+|"")*+(?:"|\Z))
    |(?P<number>\d+(?:\.\d*)?(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?)
    |(?P<sign>::|.)""",
    re.VERBOSE | re.DOTALL,
)
_CHARACTERS_MAX = 4 << 20
_TOKENS_MAX = 500_000
_COMMENT_EDGE = re.compile(r"/\*|\*/")


class Token(NamedTuple):
    """A piece of a text: its kind (`word`, `quoted`, `text`, `number`, `parameter`, `sign`), itself, and its place."""

    kind: str
    text: str
    at: int

    @property
    def upper(self) -> str:
        """A word in capitals."""
        return self.text.upper() if self.kind == "word" else self.text

    @property
    def name(self) -> str:
        """A name as it is meant: a plain one in lower case, a quoted one without its quotes."""
        return self.text[1:-1].replace('""', '"') if self.kind == "quoted" else self.text.lower()


@dataclass(frozen=True, slots=True)
class SqlText:
    """One statement: its text, its tokens, and where in the whole text it begins."""

    sql: str
    tokens: tuple[Token, ...]

    @property
    def words(self) -> tuple[str, ...]:
        """The first tokens, words in capitals."""
        return tuple(token.upper for token in self.tokens[:6])

    @property
    def parameters(self) -> int:
        """How many parameters it has, by the largest number."""
        return max((int(t.text[1:]) for t in self.tokens if t.kind == "parameter"), default=0)

    @property
    def counts(self) -> frozenset[int]:
        """The parameters that stand behind LIMIT or OFFSET."""
        pairs = zip(self.tokens, self.tokens[1:], strict=False)
        return frozenset(
            int(t.text[1:]) for before, t in pairs if t.kind == "parameter" and before.upper in {"LIMIT", "OFFSET"}
        )

    def with_values(self, literals: Sequence[str]) -> str:
        """Its text with a literal in the place of each parameter."""
        changes = {
            token.at: (token.at + len(token.text), literals[int(token.text[1:]) - 1])
            for token in self.tokens
            if token.kind == "parameter" and 0 < int(token.text[1:]) <= len(literals)
        }
        return replace_pieces(self.sql, changes)


def replace_pieces(sql: str, changes: dict[int, tuple[int, str]]) -> str:
    """A text with pieces of it, begin → (end, new text), exchanged."""
    parts, at = [], 0
    for begin, (end, new) in sorted(changes.items()):
        parts += [sql[at:begin], new]
        at = end
    return "".join([*parts, sql[at:]])


def tokens_of(sql: str) -> list[Token]:
    """The tokens of a text, without spaces and comments; what has no end of its own ends with the text.

    In one pass, whatever the text is: it comes from outside.
    """
    _check_size(len(sql), _CHARACTERS_MAX)
    found: list[Token] = []
    at = 0
    while at < len(sql):
        match = _TOKEN.match(sql, at)
        assert match is not None, "a sign is any character"
        kind, end = str(match.lastgroup), match.end()
        if kind == "comment":
            end = _comment_end(sql, at)
        elif kind == "dollars":
            closed = sql.find(match[0], end)
            kind, end = "text", len(sql) if closed < 0 else closed + len(match[0])
        if kind not in {"space", "comment"}:
            found.append(Token(kind, sql[at:end], at))
            _check_size(len(found), _TOKENS_MAX)
        at = end
    return found


def statements_of(sql: str) -> list[SqlText]:
    """The statements of a text, without the semicolons between them; empty ones are left out."""
    found: list[SqlText] = []
    begin, held = 0, list[Token]()
    for token in [*tokens_of(sql), Token("sign", ";", len(sql))]:
        if token.text != ";":
            held.append(token)
            continue
        if held:
            moved = tuple(t._replace(at=t.at - begin) for t in held)
            found.append(SqlText(sql[begin : token.at], moved))
        begin, held = token.at + 1, []
    return found


def literal(text: str) -> str:
    """A text as SQL writes it."""
    return "'" + text.replace("'", "''") + "'"


def _check_size(size: int, most: int) -> None:
    if size > most:
        raise ErrorCode.INVALID_SCAN_REQUEST.error(
            f"The text is too long: {_CHARACTERS_MAX:,} characters and {_TOKENS_MAX:,} words and signs are taken."
        )


def _comment_end(sql: str, at: int) -> int:
    """Behind a comment, which may hold others."""
    depth = 0
    for edge in _COMMENT_EDGE.finditer(sql, at):
        depth += 1 if edge[0] == "/*" else -1
        if not depth:
            return edge.end()
    return len(sql)
