"""The hint that a column must be quoted, after a syntax error at its name: `at` and `order` are words of SQL."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from lakeward.errors import LakewardError
from lakeward.query.duckdb.sql_tree import error_position

if TYPE_CHECKING:
    from lakeward.client.blocking.sync import Connection

_TABLE = re.compile(r"\b(?:FROM|JOIN)\s+([\w.$\"]+)", re.IGNORECASE)
_WORD_BEFORE = re.compile(r"(\w+)\s*$")
_WORD_AT = re.compile(r"\w+")


def keyword_hint(conn: Connection, sql: str, names: Mapping[str, str]) -> str:
    """A sentence with a space in front if a query broke at a column of one of its tables; else nothing."""
    words = set(_words_at_error(sql))
    for table in dict.fromkeys(_TABLE.findall(sql)) if words else ():
        plain = table.replace('"', "")
        try:
            columns = conn.table(names.get(plain.lower(), plain)).info.schema.names
        except LakewardError:
            continue  # the syntax error is what is reported
        for column in columns:
            if column.lower() in words:
                return f' {column} is a word of SQL; to name the column, quote it: "{column}".'
    return ""


def _words_at_error(sql: str) -> Iterator[str]:
    """DuckDB stumbles over a keyword itself, or over what stands after it."""
    position = error_position(sql)
    if position is None:
        return
    before, behind = sql.encode()[:position].decode(errors="ignore"), sql.encode()[position:].decode(errors="ignore")
    for found in (_WORD_BEFORE.search(before), _WORD_AT.match(behind)):
        if found is not None:
            yield found[0].strip().lower()
