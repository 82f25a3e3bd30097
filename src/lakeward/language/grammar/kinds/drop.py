"""DROP."""

from __future__ import annotations

from lakeward.language.grammar.text.reader import Reader
from lakeward.language.grammar.text.spark_text import spark_statement
from lakeward.language.statements.define import Drop
from lakeward.language.statements.statement import Statement

_THINGS = ("CATALOG", "DATABASE", "TABLE", "VIEW")
_OF_SPARK = ("FUNCTION", "INDEX", "NAMESPACE", "MATERIALIZED", "STREAMING", "VARIABLE", "GLOBAL")


def drop(reader: Reader) -> Statement:
    """DROP [TEMPORARY] thing [IF EXISTS] name [CASCADE]; of what only Spark has it is Spark's."""
    reader.expect("DROP")
    is_temporary = reader.take("TEMPORARY") or reader.take("TEMP")
    if reader.key in _OF_SPARK:
        return spark_statement(reader)
    what = "DATABASE" if reader.take("SCHEMA") else reader.take_any(_THINGS, " after DROP")
    if_exists = reader.exists("IF EXISTS")
    name = reader.full_name(f"the name of the {what.lower()}")
    is_cascade = reader.take("CASCADE")
    if not is_cascade and not reader.take("RESTRICT"):
        reader.take("PURGE")
    reader.end()
    return Drop(
        **reader.head, what=what, name=name, if_exists=if_exists, is_temporary=is_temporary, is_cascade=is_cascade
    )
