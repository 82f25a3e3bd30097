"""Statements that are Spark's: handed over as they were written."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

from lakeward.language.grammar.text.hints import is_options_hint
from lakeward.language.grammar.text.lexer import Token
from lakeward.language.grammar.text.reader import Reader
from lakeward.language.place import ScriptError
from lakeward.language.statements.rows import SparkStatement
from lakeward.language.statements.statement import Statement

#: Words that make a query ours: Spark could not answer it.
_OURS = {"SYSTEM_TIME", "DESCRIPTOR", "PROCTIME", "WATERMARK"}
_OUR_FUNCTIONS = {"TUMBLE", "HOP", "CUMULATE", "TUMBLE_START", "TUMBLE_END", "HOP_START", "HOP_END"}
#: Words and signs of Spark's that the parser under ours may not know.
_SPARKS = {"|>", "::", "$", "{", "COLLATE", "LATERAL", "QUALIFY", "RECURSIVE", "TABLESAMPLE"}
#: The same, of two: a word alone might be a column's name.
_SPARK_PAIRS = {("BY", "NAME"), ("REPLACE", "WHERE"), ("EXCEPT", "("), ("IDENTIFIER", "("), ("PIVOT", "(")}
_SPARK_PAIRS |= {("UNPIVOT", "("), ("WITHIN", "GROUP"), ("STREAM", "("), ("TRANSFORM", "("), ("NULLS", ")")}


def spark_statement(reader: Reader) -> Statement:
    """The statement as Spark will read it."""
    return SparkStatement(**reader.head)


def or_spark(reader: Reader, parse: Callable[[Reader], Statement]) -> Statement:
    """What `parse` makes of a statement; where it fails, Spark's statement if there is a word of Spark's in it."""
    start = reader.at
    try:
        return parse(reader)
    except ScriptError:
        reader.at = start
        if is_of_spark(reader) and not reader.is_misspelt:
            return spark_statement(reader)
        raise


def is_of_spark(reader: Reader) -> bool:
    """Whether Spark may understand what we do not: a word or sign of its own is there, and none of ours."""
    pairs = list(pairwise(reader.piece.tokens))
    return not any(_is_ours(*pair) for pair in pairs) and any(_is_sparks(*pair) for pair in pairs)


def _is_ours(token: Token, following: Token) -> bool:
    if following.kind == "hint":
        return is_options_hint(following.text)
    return token.key in _OURS or (token.key in _OUR_FUNCTIONS and following.key == "(")


def _is_sparks(token: Token, following: Token) -> bool:
    is_path = following.key == ":" and (token.kind in {"word", "quoted"} or token.key in {")", "]"})
    return is_path or following.key in _SPARKS or (token.key, following.key) in _SPARK_PAIRS
