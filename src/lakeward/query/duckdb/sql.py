"""SQL without Spark: DuckDB over the plans of the tables that a query names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from lakeward.errors import ErrorCode, LakewardError
from lakeward.model.table import TablePath
from lakeward.options.spark import LAKE_PREFIX
from lakeward.query.duckdb.duck_session import duck_session
from lakeward.query.duckdb.duckdb_views import PlanView
from lakeward.query.duckdb.keyword_hint import keyword_hint
from lakeward.query.duckdb.sql_tree import SqlTree
from lakeward.query.lake.overtaken import OvertakenError
from lakeward.query.plan.planner import plan_once
from lakeward.query.plan.replan import replan
from lakeward.query.read.query_metrics import metrics_of
from lakeward.query.request.request import ReadRequest

if TYPE_CHECKING:
    import pyarrow as pa

    from lakeward.client.blocking.sync import Connection


def run_sql(
    conn: Connection, sql: str, options: Mapping[str, str] | None = None, names: Mapping[str, str] | None = None
) -> pa.Table:
    """The answer to a SELECT over tables of a cluster, as Arrow.

    Tables are named `db.table`, or by the short names that `names` gives them. `options` are those of a read
    (scan.snapshot-id, lake.warehouse, …). A plan that the log's retention has overtaken is made again.
    """
    with metrics_of(conn.inner).query():
        return _run(conn, sql, options or {}, names or {})


def _run(conn: Connection, sql: str, options: Mapping[str, str], names: Mapping[str, str]) -> pa.Table:
    try:
        tree = SqlTree(sql)
    except LakewardError as wrong:
        raise wrong.code.error(wrong.message + keyword_hint(conn, sql, names)) from wrong
    given = {LAKE_PREFIX + key: value for key, value in conn.lake_properties.items()} | dict(options)
    short = {k.lower(): v for k, v in names.items()}
    return replan(conn, lambda: _answer(conn, sql, tree, given, short))


def _answer(
    conn: Connection, sql: str, tree: SqlTree, options: Mapping[str, str], names: Mapping[str, str]
) -> pa.Table:
    import duckdb

    views: list[PlanView] = []
    with duck_session() as duck:
        try:
            for ref in {ref.name.lower(): ref for ref in tree.tables()}.values():  # as DuckDB tells names apart
                name = names.get(ref.name.lower(), ref.name)
                view = _view(conn, duck, tree, _correct_case(conn, ReadRequest.of_name(name, options=options)))
                views.append(view)
                if ref.schema:
                    duck.execute(f"CREATE SCHEMA IF NOT EXISTS {_quote(ref.schema)}")
                view.create(
                    ".".join(_quote(part) for part in (ref.schema, ref.table) if part), is_joined=not tree.is_plain
                )
            answer = duck.execute(sql).to_arrow_table()
        except duckdb.Error as wrong:
            raise _query_error(wrong, views) from wrong
        finally:
            for view in views:
                view.close()
    for split in (split for view in views for split in view.scanned):
        metrics_of(conn.inner).count_files(split)
    return answer


def _correct_case(conn: Connection, asked: ReadRequest) -> ReadRequest:
    """The request of a table that is named in other case than it has, as people do in SQL."""
    try:
        conn.table(str(asked.path))
    except LakewardError as wrong:
        if wrong.code not in {ErrorCode.TABLE_NOT_EXIST, ErrorCode.DATABASE_NOT_EXIST}:
            raise
        databases = [name for name in conn.databases() if name.lower() == asked.path.database.lower()]
        paths = [TablePath(name, table) for name in databases for table in conn.tables(name)]
        found = [path for path in paths if path.table.lower() == asked.path.table.lower()]
        if len(found) != 1:
            raise
        return replace(asked, path=found[0])
    return asked


def _view(conn: Connection, duck: Any, tree: SqlTree, asked: ReadRequest) -> PlanView:
    info = conn.table(str(asked.path)).info
    columns = tree.columns(info.schema) or info.schema.names[:1]
    request = replace(asked, columns=columns, filters=tree.filters(info.schema), parallelism=1)
    return PlanView(conn, duck, info, request, plan_once(conn, request))


def _query_error(wrong: Exception, views: list[PlanView]) -> Exception:
    failed = next((view.failure for view in views if view.failure is not None), None)
    if failed is not None:
        return failed
    if "No files found" in str(wrong) or "No such file" in str(wrong):
        return OvertakenError(f"A file of the lake was removed while it was read: its snapshot has expired. {wrong}")
    made: LakewardError = ErrorCode.INVALID_SCAN_REQUEST.error(f"DuckDB refused the query: {wrong}")
    return made


def _quote(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
