"""ALTER: what is altered decides who reads on."""

from __future__ import annotations

from lakeward.language.grammar.tables.alter_table import alter_table
from lakeward.language.grammar.text.reader import Reader
from lakeward.language.grammar.text.spark_text import spark_statement
from lakeward.language.grammar.tree.trees import read_query
from lakeward.language.statements.define import AlterView
from lakeward.language.statements.statement import Statement

_THINGS = ("TABLE", "VIEW", "DATABASE", "SCHEMA", "NAMESPACE", "CATALOG", "STREAMING", "MATERIALIZED")


def alter(reader: Reader) -> Statement:
    """ALTER TABLE, ALTER VIEW, or an ALTER of Spark's."""
    reader.expect("ALTER")
    match reader.take_any(_THINGS, " after ALTER"):
        case "TABLE":
            return alter_table(reader)
        case "VIEW":
            return _alter_view(reader)
        case _:
            return spark_statement(reader)


def _alter_view(reader: Reader) -> Statement:
    """ALTER VIEW name RENAME TO name | AS query; with properties it is Spark's."""
    name = reader.full_name("the view's name")
    if reader.take("RENAME"):
        reader.expect("TO", " after RENAME")
        new_name = reader.full_name("the view's new name")
        reader.end()
        return AlterView(**reader.head, name=name, new_name=new_name)
    if reader.take("AS"):
        query_text = reader.rest_text
        return AlterView(**reader.head, name=name, query=read_query(reader), query_text=query_text)
    if reader.key not in {"SET", "UNSET", "WITH"}:
        reader.take_any(("RENAME", "AS"), f" after ALTER VIEW {name}")
    return spark_statement(reader)
