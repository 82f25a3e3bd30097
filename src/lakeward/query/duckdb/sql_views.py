"""SqlViews: the tables that a SELECT names, as views of a DuckDB connection."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from lakeward.errors import ErrorCode, LakewardError
from lakeward.model.table import TablePath
from lakeward.query.duckdb.duckdb_views import PlanView
from lakeward.query.duckdb.file_sql import quote
from lakeward.query.duckdb.hot_tables import HotTables, KeptTable
from lakeward.query.duckdb.side_by_side import side_by_side
from lakeward.query.duckdb.sql_tree import SqlTree, TableRef
from lakeward.query.lake.overtaken import OvertakenError
from lakeward.query.plan.planner import SeenLogs, plan_once
from lakeward.query.read.query_metrics import metrics_of
from lakeward.query.request.request import ReadRequest

if TYPE_CHECKING:
    from lakeward.client.blocking.sync import Connection
    from lakeward.client.blocking.sync_table import Table
    from lakeward.client.tables.glance import Glance
    from lakeward.query.plan.plan import Plan

    Planner = Callable[[Connection, ReadRequest, Table, SeenLogs | None], Plan]


@dataclass(frozen=True, slots=True)
class _Asked:
    """One table of a SELECT at a glance."""

    ref: TableRef
    request: ReadRequest
    table: Table | None
    kept: KeptTable | None
    seen: SeenLogs | None


@dataclass(frozen=True, slots=True)
class PlannedView:
    """One table of a SELECT: what it is called there, what is asked of it, and the view that it becomes."""

    ref: TableRef
    request: ReadRequest
    plan: Plan
    view: PlanView
    _duck: Any
    #: The texts of views that are there.
    _made: dict[Hashable, str]

    def create(self) -> None:
        """Begin to read, and make the view, unless the very same is there."""
        text = self.view.begin()
        if self._made.get(self.ref) == text:
            return
        self._made.pop(self.ref, None)
        if self.ref.schema:
            self._duck.execute(f"CREATE SCHEMA IF NOT EXISTS {quote(self.ref.schema)}")
        name = ".".join(quote(part) for part in (self.ref.schema, self.ref.table) if part)
        self._duck.execute(f"CREATE OR REPLACE VIEW {name} AS {text}")
        if self.view.lasts:
            self._made[self.ref] = text


class SqlViews:
    """Plans the tables of one SELECT, once; `options` are those of a read, `names` short names in lower case.

    `kept` is what the connection keeps of tables, for DuckDB connections of this process's own instance.
    """

    def __init__(
        self,
        conn: Connection,
        tree: SqlTree,
        options: Mapping[str, str],
        names: Mapping[str, str],
        kept: HotTables | None = None,
    ) -> None:
        self._kept = kept
        self._conn = conn
        self._tree = tree
        self._options = options
        self._names = names
        self._views: list[PlanView] = []
        #: As DuckDB tells names apart.
        self._refs = {ref.name.lower(): ref for ref in tree.tables()}

    @property
    def tables(self) -> Hashable:
        """What tells queries of the same tables from others."""
        return frozenset(self._refs.values())

    def plan_each(
        self, duck: Any, plan_table: Planner = plan_once, made: dict[Hashable, str] | None = None
    ) -> Iterator[PlannedView]:
        """Each table, as soon as it is planned; several are planned side by side. `made` are views that `duck` has."""
        there = {} if made is None else made
        asked = self._look() if self._refs else []
        works = [partial(self._plan, duck, one, plan_table, there) for one in asked]
        # Where nothing is left to ask, threads would only be in each other's way.
        for planned in (work() for work in works) if all(one.seen for one in asked) else side_by_side(works):
            self._views.append(planned.view)
            yield planned

    def _look(self) -> list[_Asked]:
        """All tables at a glance; those of which something is kept with the ends of their logs."""
        requests = [
            ReadRequest.of_name(self._names.get(ref.name.lower(), ref.name), options=self._options)
            for ref in self._refs.values()
        ]
        kept = [None if self._kept is None else self._kept.look(request) for request in requests]
        glances = self._conn.glance(
            [(request.path, None if one is None else one.question) for request, one in zip(requests, kept, strict=True)]
        )
        return [
            _Asked(ref, request, glance.table, one, _seen(one, glance))
            for ref, request, one, glance in zip(self._refs.values(), requests, kept, glances, strict=True)
        ]

    def _plan(self, duck: Any, one: _Asked, plan_table: Planner, made: dict[Hashable, str]) -> PlannedView:
        asked, table = (one.request, one.table) if one.table else _correct_case(self._conn, one.request)
        schema = table.info.schema
        columns = self._tree.columns(schema) or schema.names[:1]
        _check_case(table.path, columns)
        request = replace(asked, columns=columns, filters=self._tree.filters(schema), parallelism=1)
        plan = plan_table(self._conn, request, table, one.seen)
        view = PlanView(self._conn, duck, table, request, plan, is_joined=not self._tree.is_plain)
        if self._kept is not None:
            is_seen = one.seen is not None and plan.stretches is one.seen.stretches
            view.look_up(self._kept, one.kept.rows if one.kept and is_seen else None)
        return PlannedView(one.ref, request, plan, view, duck, made)

    def close(self) -> None:
        """Stop reading what nobody has asked for."""
        for view in self._views:
            view.close()

    def count_files(self) -> None:
        """Count what DuckDB has read by itself."""
        for split in (split for view in self._views for split in view.scanned):
            metrics_of(self._conn.inner).count_files(split)

    def error(self, wrong: Exception) -> Exception:
        """What an error of DuckDB comes from: a stream that it pulled, files that are gone, or the query."""
        failed = next((view.failure for view in self._views if view.failure is not None), None)
        if failed is not None:
            return failed
        gone = next((path for view in self._views if (path := view.gone_file) is not None), None)
        if gone is not None or "No files found" in str(wrong) or "No such file" in str(wrong):
            told = gone or str(wrong).partition("\n\nLINE ")[0]
            return OvertakenError(
                "A file of the lake was removed while it was read: its snapshot has expired, or somebody else took it "
                f"away: {told}"
            )
        made: LakewardError = ErrorCode.INVALID_SCAN_REQUEST.error(f"DuckDB refused the query: {wrong}")
        return made


def _seen(kept: KeptTable | None, glance: Glance[Table]) -> SeenLogs | None:
    return None if kept is None or glance.table is None else kept.seen(glance.table.info, glance.ends)


def _check_case(path: TablePath, columns: Sequence[str]) -> None:
    """DuckDB would answer with the first of them, whichever is asked for."""
    seen: dict[str, str] = {}
    for name in columns:
        first = seen.setdefault(name.lower(), name)
        if first != name:
            raise ErrorCode.INVALID_SCAN_REQUEST.error(
                f"{path} has the columns '{first}' and '{name}', which DuckDB does not tell apart. Read it by "
                "table.scan(), `lakeward dump`, or Spark with spark.sql.caseSensitive=true."
            )


def _correct_case(conn: Connection, asked: ReadRequest) -> tuple[ReadRequest, Table]:
    """The request of a table that is named in other case than it has, as people do in SQL; and the table."""
    try:
        return asked, conn.table(str(asked.path))
    except LakewardError as wrong:
        if wrong.code not in {ErrorCode.TABLE_NOT_EXIST, ErrorCode.DATABASE_NOT_EXIST}:
            raise
        databases = [name for name in conn.databases() if name.lower() == asked.path.database.lower()]
        paths = [TablePath(name, table) for name in databases for table in conn.tables(name)]
        found = [path for path in paths if path.table.lower() == asked.path.table.lower()]
        if len(found) != 1:
            raise
    return replace(asked, path=found[0]), conn.table(str(found[0]))
