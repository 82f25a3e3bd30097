"""USE CATALOG, USE DATABASE and USE."""

from __future__ import annotations

from lakeward.language.grammar.text.reader import Reader
from lakeward.language.statements.define import Use
from lakeward.language.statements.statement import Statement


def use(reader: Reader) -> Statement:
    """USE CATALOG name, or USE [DATABASE] [catalog.]database."""
    reader.expect("USE")
    is_whole = len(reader.piece.tokens) > 2 and reader.piece.tokens[2].key != "."
    if is_whole and reader.take("CATALOG"):
        catalog = reader.name("the catalog's name")
        reader.end()
        return Use(**reader.head, catalog=catalog)
    if is_whole and reader.key in {"DATABASE", "SCHEMA", "NAMESPACE"}:
        reader.at += 1
    database = reader.full_name("CATALOG, or the database's name")
    reader.end()
    return Use(**reader.head, database=database)
