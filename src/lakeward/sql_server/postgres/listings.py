"""SHOW TABLES and SHOW DATABASES, which people know from elsewhere, as questions about the catalog."""

from __future__ import annotations

from lakeward.sql_server.postgres.codec.sql_text import SqlText, literal

_OWN = "'public', 'information_schema', 'pg_catalog', 'pg_toast'"


def listing_of(statement: SqlText, database: str | None) -> str | None:
    """The question that a SHOW asks; None for one of a variable. Tables are those of `database`, or all with theirs."""
    words, tokens = statement.words[1:], statement.tokens
    if words in {("DATABASES",), ("SCHEMAS",)}:
        return f"SELECT nspname AS name FROM pg_namespace WHERE nspname NOT IN ({_OWN}) ORDER BY 1"  # noqa: S608
    if words[:1] != ("TABLES",) or len(tokens) not in {2, 4} or (len(tokens) == 4 and words[1] not in {"FROM", "IN"}):
        return None
    schema = tokens[3].name if len(tokens) == 4 else database
    name = "table_schema || '.' || table_name" if schema is None else "table_name"
    where = f"table_schema NOT IN ({_OWN})" if schema is None else f"table_schema = {literal(schema)}"
    return f"SELECT {name} AS name FROM information_schema.tables WHERE {where} ORDER BY 1"  # noqa: S608 - as literals
