"""Tokens of a script as sqlglot's parser reads them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sqlglot.dialects.spark import Spark
from sqlglot.tokenizer_core import Token as TreeToken
from sqlglot.tokenizer_core import TokenType

from lakeward.language.grammar.text.hints import is_options_hint
from lakeward.language.grammar.text.lexer import Token
from lakeward.language.grammar.text.script_text import ScriptText

#: Words that are commands of others at the start of a statement are plain names inside a query.
_KEYWORDS = {
    **{word: kind for word, kind in Spark.Tokenizer.KEYWORDS.items() if kind is not TokenType.COMMAND},
    "TIMESTAMP": TokenType.TIMESTAMP,
    "BYTES": TokenType.VARBINARY,
}
_SIGNS = {**Spark.Tokenizer.SINGLE_TOKENS, **{word: kind for word, kind in _KEYWORDS.items() if not word[0].isalpha()}}
_SUFFIXES: dict[str, str] = Spark.Tokenizer.NUMERIC_LITERALS
#: Words that sqlglot takes as one token: first word → what follows it → token.
_PHRASES: dict[str, dict[str, TokenType]] = {}
for _word, _kind in _KEYWORDS.items():
    if _word.count(" ") == 1 and _word[0].isalpha():
        _PHRASES.setdefault(_word.split()[0], {})[_word.split()[1]] = _kind
_KINDS = {
    "text": TokenType.STRING,
    "raw": TokenType.STRING,
    "quoted": TokenType.IDENTIFIER,
    "hex": TokenType.HEX_STRING,
}
#: What a hint of Spark's follows.
_BEFORE_HINT = {"SELECT", "INSERT", "UPDATE", "DELETE"}


def tree_tokens(script: ScriptText, tokens: Sequence[Token], base: int) -> list[TreeToken]:
    """The same tokens for sqlglot; places count from the offset `base`."""
    origin = script.place(base)
    found: list[TreeToken] = []
    at = 0
    while at < len(tokens):
        token = tokens[at]
        place = script.place(token.start)
        line = place.line - origin.line + 1
        column = place.column - origin.column + 1 if line == 1 else place.column
        made = TreeToken(TokenType.VAR, token.text, line, column, token.start - base, token.end - base - 1)
        following = tokens[at + 1] if at + 1 < len(tokens) else None
        at += 1
        match token.kind:
            case "word":
                phrase = _PHRASES.get(token.key, {}).get(following.key) if following is not None else None
                if phrase is not None and following is not None:
                    at += 1
                    made.token_type, made.text = phrase, f"{token.key} {following.key}"
                    made.end = following.end - base - 1
                elif token.key == "ROW" and following is not None and following.key == "<":
                    made.token_type = TokenType.STRUCT
                else:
                    made.token_type = _KEYWORDS.get(token.key, TokenType.VAR)
            case "sign":
                made.token_type = _SIGNS.get(token.text, TokenType.UNKNOWN)
            case "number":
                found.extend(_number_tokens(made))
                continue
            case "hint":
                if not is_options_hint(token.text) and (at < 2 or tokens[at - 2].key not in _BEFORE_HINT):
                    continue
                made.token_type, made.comments = TokenType.HINT, [token.text[3:-2]]
            case _:
                made.token_type, made.text = _KINDS[token.kind], token.value
        found.append(made)
    return found


def _number_tokens(number: TreeToken) -> Iterator[TreeToken]:
    """A number; with a suffix such as 10L it is a number and its cast, as sqlglot has it."""
    digits = number.text.rstrip("bBdDfFlLsSyY")
    suffix = number.text[len(digits) :]
    number.token_type, number.text = TokenType.NUMBER, digits
    yield number
    if suffix:
        where = (number.line, number.col, number.start, number.end)
        yield TreeToken(TokenType.DCOLON, "::", *where)
        yield TreeToken(_KEYWORDS[_SUFFIXES[suffix.upper()]], suffix, *where)
