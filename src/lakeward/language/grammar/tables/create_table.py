"""CREATE [OR REPLACE] [TEMPORARY] TABLE."""

from __future__ import annotations

from typing import Any

from lakeward.language.grammar.tables.columns import Columns, read_columns
from lakeward.language.grammar.text.options import read_options
from lakeward.language.grammar.text.reader import Reader
from lakeward.language.grammar.text.spark_text import spark_statement
from lakeward.language.grammar.tree.trees import read_query
from lakeward.language.statements.create_table import CreateTable, Distribution, Like
from lakeward.language.statements.statement import Statement

#: Clauses of Spark's CREATE TABLE that ours does not have.
_OF_SPARK = {"USING", "TBLPROPERTIES", "LOCATION", "STORED", "CLUSTERED", "CLUSTER", "SKEWED", "OPTIONS", "ROW"}
_CLAUSES = ("COMMENT", "DISTRIBUTED", "PARTITIONED", "WITH", "LIKE", "AS")
_FEATURES = ("ALL", "CONSTRAINTS", "DISTRIBUTION", "GENERATED", "METADATA", "OPTIONS", "PARTITIONS", "WATERMARKS")


def create_table(reader: Reader, *, is_temporary: bool, or_replace: bool) -> Statement:
    """What follows CREATE … TABLE; with a clause of Spark's it is Spark's."""
    if _is_of_spark(reader):
        return spark_statement(reader)
    if_not_exists = reader.exists("IF NOT EXISTS")
    name = reader.full_name()
    columns = read_columns(reader) if reader.comes("(") else Columns()
    clauses: dict[str, Any] = {}
    while reader.token is not None:
        _read_clause(reader, clauses)
    if "like" not in clauses and "query" not in clauses:
        if not columns.columns:
            reader.refuse(f"expected the columns of {name} in brackets, LIKE or AS, found {reader.next_label}.")
        columns.check(reader)
    return CreateTable(
        **reader.head,
        name=name,
        columns=tuple(columns.columns),
        primary_key=columns.primary_key,
        watermark=columns.watermark,
        is_temporary=is_temporary,
        if_not_exists=if_not_exists,
        or_replace=or_replace,
        **clauses,
    )


def _is_of_spark(reader: Reader) -> bool:
    """Whether a clause of Spark's stands outside all brackets, in front of a query."""
    depth = 0
    for token in reader.piece.tokens[reader.at :]:
        if depth == 0 and token.key == "AS":
            return False
        if depth == 0 and token.key in _OF_SPARK:
            return True
        depth += (token.key == "(") - (token.key == ")")
    return False


def _read_clause(reader: Reader, clauses: dict[str, Any]) -> None:
    token = reader.token
    word = reader.take_any(_CLAUSES)
    value: Any
    match word:
        case "COMMENT":
            key, value = "comment", reader.string("the comment in single quotes")
        case "DISTRIBUTED":
            key, value = "distribution", _read_distribution(reader)
        case "PARTITIONED":
            reader.expect("BY", " after PARTITIONED")
            key, value = "partitioned_by", reader.names()
        case "WITH":
            key, value = "options", read_options(reader)
        case "LIKE":
            key, value = "like", _read_like(reader)
        case _:
            key, value = "query", read_query(reader)
    if key in clauses:
        reader.refuse(f"{word} is there already.", token)
    clauses[key] = value


def _read_distribution(reader: Reader) -> Distribution:
    columns: tuple[str, ...] = ()
    buckets: int | None = None
    if reader.take("BY"):
        reader.take("HASH")
        columns = reader.names()
    elif not reader.comes("INTO"):
        reader.take_any(("BY", "INTO"), " after DISTRIBUTED")
    if reader.take("INTO"):
        buckets = reader.number("a number of buckets from 1")
        reader.expect("BUCKETS", f" after INTO {buckets}")
    return Distribution(columns, buckets)


def _read_like(reader: Reader) -> Like:
    name = reader.full_name()
    features: list[tuple[str, str]] = []
    if reader.take("("):
        while not reader.take(")"):
            how = reader.take_any(("INCLUDING", "EXCLUDING", "OVERWRITING"), " in LIKE")
            features.append((how, reader.take_any(_FEATURES, f" after {how}")))
    return Like(name, tuple(features))
