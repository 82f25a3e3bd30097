"""DESCRIBE and DESC."""

from __future__ import annotations

from lakeward.language.grammar.text.reader import Reader
from lakeward.language.grammar.text.spark_text import spark_statement
from lakeward.language.statements.define import Describe
from lakeward.language.statements.statement import Statement

_OF_SPARK = {"FUNCTION", "QUERY", "SELECT", "WITH", "VALUES", "FROM"}
_THINGS = {"CATALOG": "CATALOG", **dict.fromkeys(("DATABASE", "SCHEMA", "NAMESPACE"), "DATABASE")}


def describe(reader: Reader) -> Statement:
    """DESCRIBE [CATALOG | DATABASE | TABLE] [EXTENDED] name; of a function, a column or a query it is Spark's."""
    reader.take_any(("DESCRIBE", "DESC"))
    following = reader.piece.tokens[2].key if len(reader.piece.tokens) > 2 else ""
    if reader.key in _OF_SPARK and following and following != ".":
        return spark_statement(reader)
    what = _THINGS.get(reader.key, "TABLE") if following and following != "." else "TABLE"
    if what != "TABLE":
        reader.at += 1
    reader.take("TABLE")
    is_extended = reader.take("EXTENDED") or reader.take("FORMATTED")
    name = reader.full_name("a table's name" if what == "TABLE" else f"the {what.lower()}'s name")
    if what == "TABLE" and reader.token is not None and (reader.token.kind in {"word", "quoted"}):
        return spark_statement(reader)
    reader.end()
    return Describe(**reader.head, name=name, is_extended=is_extended, what=what)
