"""SHOW."""

from __future__ import annotations

from lakeward.language.grammar.text.partition import read_partition
from lakeward.language.grammar.text.reader import Reader
from lakeward.language.grammar.text.spark_text import spark_statement
from lakeward.language.statements.define import Show
from lakeward.language.statements.statement import Name, Statement

_PLAIN = ("CATALOGS", "DATABASES", "JOBS", "USER FUNCTIONS")
_IN_DATABASE = ("TABLES", "VIEWS", "FUNCTIONS")
_OF_NAME = ("CREATE TABLE", "CREATE VIEW", "CREATE CATALOG", "PARTITIONS")
_CURRENT = ("CURRENT CATALOG", "CURRENT DATABASE")
_OF_SPARK = (
    "SCHEMAS",
    "NAMESPACES",
    "TABLE",
    "TBLPROPERTIES",
    "USER",
    "SYSTEM",
    "ALL",
    "CURRENT",
    "LOCKS",
    "COLLATIONS",
)
_WORDS = (*_PLAIN, *_IN_DATABASE, "COLUMNS", "PARTITIONS", "CREATE", "CURRENT")


def show(reader: Reader) -> Statement:
    """SHOW what …."""
    reader.expect("SHOW")
    for what in (*_PLAIN, *_CURRENT):
        if reader.take(what):
            return _finish(reader, what, None)
    for what in _IN_DATABASE:
        if reader.take(what):
            return _finish(reader, what, _take_database(reader))
    for what in _OF_NAME:
        if reader.take(what):
            name = reader.full_name("a name")
            partition = read_partition(reader) if what == "PARTITIONS" and reader.comes("PARTITION (") else ()
            return _finish(reader, what, name, partition)
    if reader.take("COLUMNS"):
        reader.take_any(("FROM", "IN"), " after COLUMNS")
        name = reader.full_name()
        database = _take_database(reader)
        if database is not None:
            name = Name((*database.parts, *name.parts), name.place)
        return _finish(reader, "COLUMNS", name)
    if reader.take("CREATE"):
        reader.take_any(("TABLE", "VIEW", "CATALOG"), " after SHOW CREATE")
    if reader.key not in _OF_SPARK:
        reader.refuse(f"expected what to show, such as TABLES, found {reader.next_label}.{reader.near(_WORDS)}")
    return spark_statement(reader)


def _take_database(reader: Reader) -> Name | None:
    return reader.full_name("the database's name") if reader.take("FROM") or reader.take("IN") else None


def _finish(reader: Reader, what: str, name: Name | None, partition: tuple[tuple[str, str], ...] = ()) -> Statement:
    is_negated = reader.take("NOT")
    like: str | None = None
    if is_negated or reader.key in {"LIKE", "ILIKE"}:
        reader.take_any(("LIKE", "ILIKE"))
        like = reader.string("a pattern in single quotes")
    elif what in _IN_DATABASE or what == "DATABASES":
        token = reader.token
        like = reader.string() if token is not None and token.kind == "text" else None
    reader.end("LIKE or ")
    return Show(**reader.head, what=what, name=name, like=like, is_negated=is_negated, partition=partition)
