"""CREATE [OR REPLACE] [TEMPORARY] VIEW."""

from __future__ import annotations

from lakeward.language.grammar.text.reader import Reader
from lakeward.language.grammar.text.spark_text import or_spark, spark_statement
from lakeward.language.grammar.tree.trees import read_query
from lakeward.language.statements.define import CreateView
from lakeward.language.statements.statement import Statement


def create_view(reader: Reader, *, is_temporary: bool, or_replace: bool) -> Statement:
    """What follows CREATE … VIEW; with properties it is Spark's."""
    if_not_exists = reader.exists("IF NOT EXISTS")
    name = reader.full_name("the view's name")
    columns = _read_columns(reader) if reader.comes("(") else ()
    if reader.comes("TBLPROPERTIES") or reader.comes("WITH SCHEMA") or reader.comes("USING"):
        return spark_statement(reader)
    comment = reader.string("the comment in single quotes") if reader.take("COMMENT") else None
    reader.expect("AS", f" after CREATE VIEW {name}")

    def view(reader: Reader) -> Statement:
        query_text = reader.rest_text
        return CreateView(
            **reader.head,
            name=name,
            query=read_query(reader),
            query_text=query_text,
            columns=columns,
            comment=comment,
            is_temporary=is_temporary,
            if_not_exists=if_not_exists,
            or_replace=or_replace,
        )

    return or_spark(reader, view)


def _read_columns(reader: Reader) -> tuple[str, ...]:
    reader.expect("(")
    columns: list[str] = []
    while True:
        columns.append(reader.name("a column's name"))
        if reader.take("COMMENT"):
            reader.string("the comment in single quotes")
        if reader.take(")"):
            return tuple(columns)
        if not reader.take(","):
            reader.refuse(f"expected ')' or ',' after {columns[-1]}, found {reader.next_label}.")
