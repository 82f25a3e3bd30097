"""Rows of sources: a database whose tables are copied and followed. They are those of the captures, and a few more."""

from __future__ import annotations

from lakeward.capture.databases import DatabaseKind
from lakeward.options.kinds import INT64_MAX, integer
from lakeward.options.option import OptionTable, Scope
from lakeward.pipelines.rows.part import Part

MAX_ROWS = "scan.max-rows"
_REQUIRED = ("hostname", "username")
#: What the pipeline itself says.
_ELSEWHERE = ("scan.parallelism",)


def _rows(kind: DatabaseKind) -> OptionTable:
    rows = OptionTable(Scope.PIPELINE)
    captured = kind.options()
    rows.adopt(captured, without=_ELSEWHERE)
    for prefix, doc in captured.open_prefixes.items():
        rows.open_prefix(prefix, doc)
    rows.optional(MAX_ROWS, integer(1, INT64_MAX), "Rows that one micro-batch takes at most, about.")
    return rows


_TABLES = (("tables",), ("database-name", "table-name"))
SOURCES = {
    "mysql": Part("A MySQL server, by its binlog.", _rows(DatabaseKind.MYSQL), _REQUIRED, _TABLES),
    "mariadb": Part("A MariaDB server, by its binlog.", _rows(DatabaseKind.MYSQL), _REQUIRED, _TABLES),
    "postgres": Part(
        "A PostgreSQL server, by logical replication (pgoutput).",
        _rows(DatabaseKind.POSTGRES),
        (*_REQUIRED, "database-name"),
        (("tables",), ("table-name",)),
    ),
}
