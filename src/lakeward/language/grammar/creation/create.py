"""CREATE: what is made decides who reads on."""

from __future__ import annotations

from lakeward.language.grammar.creation.create_catalog import create_catalog
from lakeward.language.grammar.creation.create_database import create_database
from lakeward.language.grammar.creation.create_view import create_view
from lakeward.language.grammar.tables.create_table import create_table
from lakeward.language.grammar.text.reader import Reader
from lakeward.language.grammar.text.spark_text import spark_statement
from lakeward.language.statements.statement import Statement

_THINGS = ("CATALOG", "DATABASE", "TABLE", "VIEW")
_OF_SPARK: tuple[str, ...] = ("SCHEMA", "NAMESPACE", "FUNCTION", "EXTERNAL", "GLOBAL", "INDEX", "MATERIALIZED")
_OF_SPARK += ("STREAMING", "FLOW", "VARIABLE", "METRIC")


def create(reader: Reader) -> Statement:
    """CREATE [OR REPLACE] [TEMPORARY] thing …."""
    reader.expect("CREATE")
    or_replace = reader.take("OR REPLACE")
    is_temporary = reader.take("TEMPORARY") or reader.take("TEMP")
    thing = reader.key
    if thing not in _THINGS and thing not in _OF_SPARK:
        reader.refuse(
            f"expected CATALOG, DATABASE, TABLE or VIEW after CREATE, found {reader.next_label}.{reader.near(_THINGS)}"
        )
    reader.at += 1
    if (or_replace or is_temporary) and thing in {"CATALOG", "DATABASE"}:
        reader.at -= 1
        reader.refuse(f"expected TABLE or VIEW after OR REPLACE and TEMPORARY, found {reader.next_label}.")
    match thing:
        case "CATALOG":
            return create_catalog(reader)
        case "DATABASE" | "SCHEMA":
            return create_database(reader)
        case "TABLE":
            return create_table(reader, is_temporary=is_temporary, or_replace=or_replace)
        case "VIEW":
            return create_view(reader, is_temporary=is_temporary, or_replace=or_replace)
        case _:
            return spark_statement(reader)


def replace(reader: Reader) -> Statement:
    """REPLACE TABLE, which is CREATE OR REPLACE TABLE."""
    reader.expect("REPLACE")
    reader.expect("TABLE", " after REPLACE")
    return create_table(reader, is_temporary=False, or_replace=True)
