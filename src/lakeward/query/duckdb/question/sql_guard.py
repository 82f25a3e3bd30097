"""What SQL of people at a browser may say: one SELECT, over tables of the cluster and rows that it makes itself.

DuckDB's own doors are closed as well (closed_session); this says what is refused, and where, before anything is read.
"""

from __future__ import annotations

import re
from typing import Any

from lakeward.errors import ErrorCode
from lakeward.query.duckdb.duck_session import duck_cursor
from lakeward.query.duckdb.question.question_error import QuestionError, question_error
from lakeward.query.duckdb.sql_tree import SqlTree

#: Functions that may stand in a FROM: they make rows of what they are given.
_ROW_MAKERS = {"generate_series", "generate_subscripts", "json_each", "json_tree", "range", "repeat", "unnest"}
#: Functions that look at the program instead of at rows, or read a text as SQL.
_REFUSED = {
    "current_setting",
    "getenv",
    "getvariable",
    "json_execute_serialized_sql",
    "json_serialize_plan",
    "query",
    "query_table",
    "write_log",
}
#: Names that mean something to DuckDB; a WITH of such a name could hide it.
_OWN_NAME = re.compile(r"(?!duckdb_|pragma_|pg_|sqlite_)\w+", re.IGNORECASE)
_READS = ("SELECT", "EXPLAIN")


def check_question(sql: str) -> SqlTree:
    """The tree of a SELECT that may be run; QuestionError for any other."""
    tree = SqlTree(sql)
    _check_statements(sql, tree)
    for node in tree.nodes:
        _check_node(node, tree)
    return tree


def check_condition(where: str, names: tuple[str, ...]) -> None:
    """Whether a text is one condition on columns, as after WHERE, and nothing else."""
    tree = SqlTree(f"SELECT 1 FROM t WHERE {where}\n")  # noqa: S608 - only parsed
    _check_statements(f"SELECT 1 FROM t WHERE {where}\n", tree)  # noqa: S608
    if not tree.is_where_only:
        raise _refusal("Write one condition here, such as amount > 10 AND country = 'DE'; no more of a query.", None)
    known = {name.lower() for name in names}
    for node in tree.nodes:
        _check_node(node, tree)
        if node.get("class") == "SUBQUERY":
            raise _refusal("A condition looks at one row at a time: there can be no query in it.", None)
        if node.get("class") in {"STAR", "WINDOW"}:
            raise _refusal("A condition looks at the columns of one row, by their names.", None)
        unknown = [name for name in (node.get("column_names") or ())[:1] if name.lower() not in known]
        if unknown and node.get("class") == "COLUMN_REF":
            raise _refusal(f"There is no column '{unknown[0]}'; there are {', '.join(names)}.", None)


def _check_statements(sql: str, tree: SqlTree) -> None:
    """One statement that reads; a PIVOT that finds its columns by itself is two to DuckDB."""
    import duckdb

    with duck_cursor() as duck:
        try:
            kinds = [str(found.type).rpartition(".")[2] for found in duck.extract_statements(sql)]
        except duckdb.Error as wrong:  # what its tree does not show, such as what EXPLAIN is asked for
            raise question_error(wrong, sql) from wrong
    if tree.is_turned and kinds == ["CREATE", "SELECT"]:
        return
    if len(kinds) != 1 or kinds[0] not in _READS:
        raise _refusal("SQL only reads here: one SELECT at a time.", None)


def _check_node(node: dict[str, Any], tree: SqlTree) -> None:
    at = _place(node, tree)
    if node.get("type") == "TABLE_FUNCTION":
        name = _function(node.get("function") or {})
        if name not in _ROW_MAKERS:
            raise _refusal(
                f"{name}(…) cannot be read here: SQL here reads tables of the cluster, named db.table, and "
                "no files and nothing of the network.",
                at,
            )
    elif node.get("class") == "FUNCTION" and _function(node) in _REFUSED:
        raise _refusal(f"The function {_function(node)} is not for SQL here.", at)
    elif node.get("type") == "BASE_TABLE" and node.get("catalog_name"):
        raise _refusal("A table is named db.table here; there is nothing in front of its database.", at)
    elif node.get("type") == "SHOW_REF" and not node.get("query"):
        raise _refusal("What tables there are is not asked by SQL here: it is a SELECT, or DESCRIBE db.table.", at)
    for entry in (node.get("cte_map") or {}).get("map", ()):
        if not _OWN_NAME.fullmatch(entry["key"]):
            raise _refusal(f"A WITH cannot be called {entry['key']!r} here; take a plain name.", at)


def _function(node: dict[str, Any]) -> str:
    return str(node.get("function_name", "")).lower()


def _place(node: dict[str, Any], tree: SqlTree) -> int | None:
    """The byte of the text at which a node stands; DuckDB has a huge number for none."""
    at = node.get("query_location")
    return tree.begin + at if isinstance(at, int) and at < 1 << 40 and not tree.is_turned else None


def _refusal(sentence: str, position: int | None) -> QuestionError:
    return QuestionError(ErrorCode.INVALID_SCAN_REQUEST, sentence, position)
