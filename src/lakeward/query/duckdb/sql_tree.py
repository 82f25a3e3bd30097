"""What a query wants of tables: names, columns, filters that make a read smaller. DuckDB parses, we look at its tree.

DuckDB shows the tree of a SELECT only. Of EXPLAIN the SELECT behind it is looked at; of a PIVOT that finds its columns
by itself (two statements to DuckDB) the rows that it turns.

Everything here is one-sided: what is not understood asks for all columns, and filters nothing.
"""

from __future__ import annotations

import datetime as dt
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from typing import Any

from lakeward.errors import ErrorCode
from lakeward.model.data_types import TypeRoot
from lakeward.model.schema import Schema
from lakeward.query.duckdb.duck_session import duck_cursor
from lakeward.query.request.filters import And, Compare, Filter, In, IsNull, Not, NotNull, Or

_OPS = {
    "COMPARE_EQUAL": "=",
    "COMPARE_NOTEQUAL": "<>",
    "COMPARE_LESSTHAN": "<",
    "COMPARE_LESSTHANOREQUALTO": "<=",
    "COMPARE_GREATERTHAN": ">",
    "COMPARE_GREATERTHANOREQUALTO": ">=",
}
_TURNED = {"=": "=", "<>": "<>", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
_INTEGERS = {TypeRoot.TINYINT, TypeRoot.SMALLINT, TypeRoot.INTEGER, TypeRoot.BIGINT}
#: How a literal may be written without being compared in another type than the column's.
_CASTS = {
    TypeRoot.STRING: {"VARCHAR"},
    TypeRoot.CHAR: {"VARCHAR"},
    TypeRoot.DATE: {"DATE"},
    TypeRoot.TIMESTAMP: {"TIMESTAMP", "DATE"},
    TypeRoot.TIMESTAMP_LTZ: {"TIMESTAMP WITH TIME ZONE"},
}
_FINE = re.compile(r"[.,]\d{7}")
_PLAIN = {"VARCHAR", "INTEGER", "BIGINT", "BOOLEAN"}


@dataclass(frozen=True, slots=True)
class TableRef:
    """A table that a query names: `schema.table`, or `table` alone."""

    schema: str
    table: str

    @property
    def name(self) -> str:
        """As it is written."""
        return f"{self.schema}.{self.table}" if self.schema else self.table


_EXPLAIN = re.compile(r"\s*EXPLAIN\b\s*(ANALYZE\b)?\s*(\([^)]*\))?", re.IGNORECASE)
_PIVOT = re.compile(r"\bPIVOT(?:_WIDER)?\b", re.IGNORECASE)
_ON = re.compile(r"\bON\b", re.IGNORECASE)
#: What is read beside a table, or instead of one.
_OTHER_ROWS = {"SUBQUERY", "JOIN", "TABLE_FUNCTION", "EXPRESSION_LIST", "PIVOT", "SHOW_REF"}


class SqlTree:
    """A SELECT statement."""

    def __init__(self, sql: str) -> None:
        explained = _EXPLAIN.match(sql)
        #: Where in the text the SELECT begins, in bytes, as DuckDB counts.
        self.begin = 0 if explained is None else len(explained[0].encode())
        if explained is not None:
            sql = sql[explained.end() :]
        tree = _serialize(sql)
        turned = _turned_rows(sql) if tree["error"] else None
        #: Whether it is a PIVOT that finds its columns by itself; only the rows that it turns are looked at.
        self.is_turned = turned is not None
        tree = turned or tree
        if tree["error"]:
            raise ErrorCode.INVALID_SCAN_REQUEST.error(_no_query(sql, tree["error_message"]))
        if not tree["statements"]:
            raise ErrorCode.INVALID_SCAN_REQUEST.error("There is no query: give a SELECT, e.g. SELECT * FROM db.table.")
        if len(tree["statements"]) != 1:
            raise ErrorCode.INVALID_SCAN_REQUEST.error("One query at a time: there are several statements here.")
        self._root = tree["statements"][0]["node"]
        self.nodes = list(_walk(self._root))
        self._columns: dict[tuple[str, ...], tuple[str, ...]] = {}

    @property
    def is_plain(self) -> bool:
        """Whether one table is all it reads, and once: then rows can stream through it."""
        if self.is_turned or (self._root.get("from_table") or {}).get("type") != "BASE_TABLE":
            return False
        others = (n for n in self.nodes if str(n.get("type")) in _OTHER_ROWS or n.get("class") == "SUBQUERY")
        return len(list(self._bases())) == 1 and next(others, None) is None

    @property
    def is_where_only(self) -> bool:
        """Whether it is a plain SELECT with a WHERE and nothing behind it."""
        root = self._root
        extra = ("modifiers", "group_expressions", "having", "sample", "qualify")
        return root["type"] == "SELECT_NODE" and self.is_plain and not any(root.get(part) for part in extra)

    def tables(self) -> list[TableRef]:
        """The tables it names, each as often as it does; what means a WITH of its own is none."""
        return list(self._tables)

    @cached_property
    def _tables(self) -> list[TableRef]:
        return list(_named_tables(self._root, frozenset()))

    def _bases(self) -> Iterator[dict[str, Any]]:
        return (node for node in self.nodes if node.get("type") == "BASE_TABLE")

    def columns(self, schema: Schema) -> tuple[str, ...]:
        """Which columns of a table it may look at, in the table's order."""
        found = self._columns.get(schema.names)
        if found is None:
            found = self._columns[schema.names] = self._columns_of(schema)
        return found

    def _columns_of(self, schema: Schema) -> tuple[str, ...]:
        tables = {text.lower() for n in self._bases() for text in (n["alias"], n["table_name"])}
        named: set[str] = set()
        for node in self.nodes:
            if node.get("class") in {"STAR", "POSITIONAL_REFERENCE"} or node.get("ref_type") == "NATURAL":
                return schema.names
            names = [name.lower() for name in node.get("column_names") or ()]
            if len(names) == 1 and names[0] in tables:
                return schema.names
            named.update(names)
            named.update(name.lower() for name in node.get("using_columns") or ())
        return tuple(name for name in schema.names if name.lower() in named)

    def filters(self, schema: Schema) -> tuple[Filter, ...]:
        """What its WHERE says of the one table that it reads."""
        where = self._root.get("where_clause")
        if where is None or not self.is_plain:
            return ()
        found = _filter(where, schema)
        if isinstance(found, And):
            return found.children
        return () if found is None else (found,)


def where_filters(where: str, schema: Schema) -> tuple[Filter, ...]:
    """The filters of a condition as SQL writes it; refuses what is no condition, and columns that are not there."""
    tree = SqlTree(f"SELECT 1 FROM t WHERE {where}")  # noqa: S608 - only parsed
    if not tree.is_where_only:
        raise ErrorCode.INVALID_SCAN_REQUEST.error(
            "A filter is one condition on a row, such as amount > 10 AND country = 'DE': no query in it, and no LIMIT."
        )
    known = {name.lower() for name in schema.names}
    for node in tree.nodes:
        unknown = [name for name in node.get("column_names") or () if name.lower() not in known]
        if unknown:
            raise ErrorCode.INVALID_SCAN_REQUEST.error(
                f"There is no column '{unknown[0]}'; there are {', '.join(schema.names)}."
            )
    return tree.filters(schema)


def error_position(sql: str) -> int | None:
    """The byte where DuckDB cannot make sense of a text any more; None where it can."""
    tree = _serialize(sql)
    return int(tree["position"]) if tree.get("error_subtype") == "SYNTAX_ERROR" and "position" in tree else None


def _serialize(sql: str) -> dict[str, Any]:
    with duck_cursor() as duck:
        # As a text: a parameter makes DuckDB import pandas, to see whether it is one of its values.
        text = "'" + sql.partition("\0")[0].replace("'", "''") + "'"
        tree: dict[str, Any] = json.loads(duck.execute(f"SELECT json_serialize_sql({text})").fetchone()[0])
        return tree


def _turned_rows(sql: str) -> dict[str, Any] | None:
    """The tree of the rows that a PIVOT turns: what stands between it and the ON that belongs to it."""
    pivot = _PIVOT.search(sql)
    if pivot is None:
        return None
    for on in _ON.finditer(sql, pivot.end()):
        tree = _serialize(f"{sql[: pivot.start()]} FROM {sql[pivot.end() : on.start()]}")
        if not tree["error"]:
            return tree
    return None


def _no_query(sql: str, reason: str) -> str:
    if reason.startswith("Only SELECT"):
        return (
            f"SQL only reads here, and {sql.split(None, 1)[0].upper()} is no query. Rows are written by `lakeward "
            "append` and `lakeward upsert`, the Python API or Spark."
        )
    return f"This is no query: {reason}."


def _walk(node: Any) -> Iterator[dict[str, Any]]:
    if isinstance(node, dict):
        yield node
        for child in node.values():
            yield from _walk(child)
    elif isinstance(node, list):
        for child in node:
            yield from _walk(child)


def _named_tables(node: Any, own: frozenset[str]) -> Iterator[TableRef]:
    """The tables below a node; `own` are names of WITH, in lower case, that hide tables there.

    A WITH is seen by those behind it and by the query that has it. In its own text its name is the table's, as in
    `WITH orders AS (SELECT … FROM orders) …`, but for the part of a recursive one that reads what came before.
    """
    if isinstance(node, list):
        for child in node:
            yield from _named_tables(child, own)
    if not isinstance(node, dict):
        return
    if node.get("type") == "BASE_TABLE" and (node["schema_name"] or node["table_name"].lower() not in own):
        yield TableRef(node["schema_name"], node["table_name"])
    for entry in (node.get("cte_map") or {}).get("map", ()):
        yield from _named_tables(entry["value"], own)
        own = own | {entry["key"].lower()}
    for key, child in node.items():
        if key != "cte_map":
            goes_on = node.get("type") == "RECURSIVE_CTE_NODE" and key == "right"
            yield from _named_tables(child, own | {node["cte_name"].lower()} if goes_on else own)


def _filter(node: dict[str, Any], schema: Schema) -> Filter | None:
    kind = node["type"]
    if kind == "CONJUNCTION_AND":
        kept = [f for child in node["children"] if (f := _filter(child, schema)) is not None]
        return And(tuple(kept)) if kept else None
    if kind == "CONJUNCTION_OR":
        found = [_filter(child, schema) for child in node["children"]]
        whole = [f for f in found if f is not None]
        return Or(tuple(whole)) if len(whole) == len(found) else None
    if kind in {"OPERATOR_IS_NULL", "OPERATOR_IS_NOT_NULL"}:
        column = _column(node["children"][0], schema)
        if column is None:
            return None
        return IsNull(column) if kind == "OPERATOR_IS_NULL" else NotNull(column)
    if kind in {"COMPARE_IN", "COMPARE_NOT_IN"}:
        return _one_of(node, schema)
    if kind == "COMPARE_BETWEEN":
        low = _compare(">=", node["input"], node["lower"], schema)
        high = _compare("<=", node["input"], node["upper"], schema)
        return And((low, high)) if low is not None and high is not None else None
    if kind in _OPS:
        op, left, right = _OPS[kind], node["left"], node["right"]
        return _compare(op, left, right, schema) or _compare(_TURNED[op], right, left, schema)
    return None


def _one_of(node: dict[str, Any], schema: Schema) -> Filter | None:
    column = _column(node["children"][0], schema)
    if column is None:
        return None
    values = tuple(_value(child, schema, column) for child in node["children"][1:])
    if None in values:
        return None
    return In(column, values) if node["type"] == "COMPARE_IN" else Not(In(column, values))


def _compare(op: str, left: dict[str, Any], right: dict[str, Any], schema: Schema) -> Filter | None:
    column = _column(left, schema)
    value = None if column is None else _value(right, schema, column)
    return None if column is None or value is None else Compare(op, column, value)


def _column(node: dict[str, Any], schema: Schema) -> str | None:
    if node["type"] != "COLUMN_REF" or len(node["column_names"]) > 2:
        return None
    *table, lower = (name.lower() for name in node["column_names"])
    names = {name.lower(): name for name in schema.names}
    if any(name in names for name in table):  # a field of a ROW, whatever else has the field's name
        return None
    return names.get(lower)


def _value(node: dict[str, Any], schema: Schema, column: str) -> Any:
    """A literal as a value of the column's type; None when it is no plain literal, or is compared in another type."""
    root = schema.column(column).type.root
    cast = node["cast_type"]["id"] if node["type"] == "OPERATOR_CAST" else None
    if cast is not None and cast in _CASTS.get(root, ()):
        node = node["child"]
    told: Any = node.get("value")
    if node["type"] != "VALUE_CONSTANT" or told["is_null"] or told["type"]["id"] not in _PLAIN:
        return None
    value = told["value"]
    try:
        match value:
            case bool():
                return value if root is TypeRoot.BOOLEAN else None
            case int() if root in _INTEGERS:
                return value
            case int() if root is TypeRoot.DECIMAL:
                return Decimal(value)
            case str() if root in {TypeRoot.STRING, TypeRoot.CHAR}:
                return value
            case str() if root is TypeRoot.DATE:
                return dt.date.fromisoformat(value)
            case str() if cast == "DATE" and root is not TypeRoot.DATE:
                return dt.datetime.combine(dt.date.fromisoformat(value), dt.time())
            case str() if _FINE.search(value):
                return None  # Python would cut it off
            case str() if root is TypeRoot.TIMESTAMP:
                moment = dt.datetime.fromisoformat(value)
                return moment if moment.tzinfo is None else None
            case str() if root is TypeRoot.TIMESTAMP_LTZ:  # without a zone of its own it is in the session's
                moment = dt.datetime.fromisoformat(value)
                return None if moment.tzinfo is None else moment
            case _:
                return None
    except ValueError:
        return None
