"""INSERT INTO and INSERT OVERWRITE."""

from __future__ import annotations

from lakeward.language.grammar.text.hints import take_hint
from lakeward.language.grammar.text.partition import read_partition
from lakeward.language.grammar.text.reader import Reader
from lakeward.language.grammar.text.spark_text import or_spark, spark_statement
from lakeward.language.grammar.tree.trees import read_query
from lakeward.language.statements.rows import Insert
from lakeward.language.statements.statement import Statement

_QUERY = {"SELECT", "WITH", "VALUES", "FROM", "TABLE", "("}


def insert(reader: Reader) -> Statement:
    """INSERT; into a directory, by name and the like it is Spark's."""
    if reader.comes("INSERT OVERWRITE DIRECTORY") or reader.comes("INSERT OVERWRITE LOCAL"):
        return spark_statement(reader)
    return or_spark(reader, read_insert)


def read_insert(reader: Reader) -> Insert:
    """INSERT INTO | OVERWRITE [TABLE] name [hint] [PARTITION (…)] [(columns)] query."""
    reader.expect("INSERT")
    is_overwrite = reader.take_any(("INTO", "OVERWRITE"), " after INSERT") == "OVERWRITE"
    if len(reader.piece.tokens) > reader.at + 1 and reader.piece.tokens[reader.at + 1].key != ".":
        reader.take("TABLE")
    target = reader.full_name()
    hint = take_hint(reader)
    partition = read_partition(reader) if reader.comes("PARTITION (") else ()
    columns: tuple[str, ...] = ()
    if reader.comes("(") and not _is_query(reader):
        columns = reader.names()
    if reader.key not in _QUERY:
        near = reader.near(["SELECT", "WITH", "VALUES", "PARTITION"])
        reader.refuse(f"expected SELECT, WITH or VALUES after INSERT INTO {target}, found {reader.next_label}.{near}")
    query_text = reader.rest_text
    return Insert(
        **reader.head,
        target=target,
        query=read_query(reader),
        query_text=query_text,
        columns=columns,
        partition=partition,
        is_overwrite=is_overwrite,
        hint=hint,
    )


def _is_query(reader: Reader) -> bool:
    tokens = reader.piece.tokens
    return reader.at + 1 < len(tokens) and tokens[reader.at + 1].key in _QUERY
