"""SQL without Spark: DuckDB over the plans of the tables that a query names."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING

from lakeward.errors import LakewardError
from lakeward.options.spark import LAKE_PREFIX
from lakeward.query.duckdb.duck_session import kept_session
from lakeward.query.duckdb.hot_tables import hot_tables_of
from lakeward.query.duckdb.keyword_hint import keyword_hint
from lakeward.query.duckdb.sql_tree import SqlTree
from lakeward.query.duckdb.sql_views import SqlViews
from lakeward.query.plan.replan import replan
from lakeward.query.read.query_metrics import metrics_of

if TYPE_CHECKING:
    import pyarrow as pa

    from lakeward.client.blocking.sync import Connection

#: Queries whose trees are remembered, by their texts, and how long a text may be for that.
_SEEN_QUERIES_MAX, _SEEN_SQL_MAX = 64, 8192
#: What DuckDB makes of a Ctrl-C.
_INTERRUPTED = "Query interrupted"


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
        tree = (_tree_of if len(sql) <= _SEEN_SQL_MAX else SqlTree)(sql)
    except LakewardError as wrong:
        raise wrong.code.error(wrong.message + keyword_hint(conn, sql, names)) from wrong
    given = {LAKE_PREFIX + key: value for key, value in conn.lake_properties.items()} | dict(options)
    short = {k.lower(): v for k, v in names.items()}
    return replan(conn, lambda: _answer(sql, SqlViews(conn, tree, given, short, hot_tables_of(conn.inner))))


@lru_cache(maxsize=_SEEN_QUERIES_MAX)
def _tree_of(sql: str) -> SqlTree:
    return SqlTree(sql)


def _answer(sql: str, views: SqlViews) -> pa.Table:
    import duckdb

    with kept_session(views.tables) as (duck, made):
        try:
            for planned in views.plan_each(
                duck, made=made
            ):  # what is hot of one is on its way while the next is planned
                planned.create()
            answer = duck.execute(sql).to_arrow_table()
        except duckdb.Error as wrong:
            raise views.error(wrong) from wrong
        except RuntimeError as wrong:
            if str(wrong) == _INTERRUPTED:
                raise KeyboardInterrupt from None
            raise
        finally:
            views.close()
    views.count_files()
    return answer
