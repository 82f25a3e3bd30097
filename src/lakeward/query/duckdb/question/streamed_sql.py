"""StreamedQuestion: a SELECT of somebody who is not trusted with this machine, whose rows come one batch at a time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from threading import Event, Lock
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from lakeward.errors import ErrorCode, LakewardError
from lakeward.options.spark import LAKE_PREFIX
from lakeward.query.duckdb.duckdb_views import local_paths
from lakeward.query.duckdb.keyword_hint import keyword_hint
from lakeward.query.duckdb.question.closed_session import UTC, DuckBounds, bare_session, closed_session
from lakeward.query.duckdb.question.parameter_types import Template, find_parameters
from lakeward.query.duckdb.question.question_error import QuestionError, character_at, question_error
from lakeward.query.duckdb.question.sql_guard import check_question
from lakeward.query.duckdb.sql_tree import SqlTree, error_position
from lakeward.query.duckdb.sql_views import PlannedView, SqlViews
from lakeward.query.plan.planner import plan_nothing
from lakeward.query.plan.replan import replan
from lakeward.query.read.query_metrics import metrics_of

if TYPE_CHECKING:
    from lakeward.client.blocking.sync import Connection

#: Rows of a batch: as many as one of DuckDB's own row groups, which it hands over without cutting.
_ROWS_AT_ONCE = 122_880


@dataclass(frozen=True, slots=True)
class Shape:
    """What an answer looks like, and what its question asks for."""

    columns: pa.Schema
    parameters: pa.Schema


class StreamedQuestion:
    """One question; `open` blocks until the first rows are there, `stop` may be called from any thread, and often.

    `database` is where tables are looked for that are named without one. `time_zone` is that of days and hours of a
    moment, and of moments that are written without one.
    """

    def __init__(
        self, conn: Connection, sql: str, bounds: DuckBounds, database: str | None = None, time_zone: str = UTC
    ) -> None:
        self._conn = conn
        self._sql = sql
        self._bounds = bounds
        self._database = database
        self._time_zone = time_zone
        self._stopped = Event()
        self._lock = Lock()
        self._duck: Any = None

    @property
    def is_stopped(self) -> bool:
        """Whether somebody has ended it."""
        return self._stopped.is_set()

    def open(self) -> StreamedAnswer:
        """Begin; QuestionError if the text is wrong. A plan that the table has overtaken is made again."""
        tree = self._check()
        return replan(self._conn, lambda: self._begin(tree))

    def describe(self, template: Template, known: Sequence[str | None] = ()) -> Shape:
        """Columns and parameters, by empty tables: nothing is planned or read, unless rows make the columns.

        The question's own text is the template's, with NULL for each value.
        """
        tree = self._check()
        if tree.is_turned:
            answer = replan(self._conn, lambda: self._begin(tree))
            answer.close()
            return Shape(answer.schema, pa.schema([(f"parameter_{n + 1}", pa.string()) for n in range(len(known))]))
        with ExitStack() as held:
            has_tables = any(True for _ in tree.tables())
            session = held.enter_context(
                (closed_session if has_tables else bare_session)(self._bounds, self._time_zone)
            )
            views = self._views(tree, held)
            with self.tell_errors(views):
                planned = list(views.plan_each(session.duck, plan_nothing))
                if has_tables:
                    session.close_doors()
                self._create(session.duck, planned)
                parameters = find_parameters(session.duck, template, known)
                return Shape(parameters.columns_of(session.duck, template), parameters.schema)

    def _check(self) -> SqlTree:
        """The tree of the text; a word of SQL that is a column, too, is told of."""
        try:
            return check_question(self._sql)
        except QuestionError:
            raise
        except LakewardError as wrong:
            at = error_position(self._sql)
            names = {} if self._database is None else _Anywhere(self._database)
            told = wrong.message + keyword_hint(self._conn, self._sql, names)
            place = None if at is None else character_at(self._sql, at)
            raise QuestionError(wrong.code, told, place, "Parser") from wrong

    def stop(self) -> None:
        """End it as soon as may be; who reads it is then told so."""
        self._stopped.set()
        with self._lock:
            if self._duck is not None:
                self._duck.interrupt()

    def _begin(self, tree: SqlTree) -> StreamedAnswer:
        has_tables = any(True for _ in tree.tables())
        with ExitStack() as held:
            held.enter_context(metrics_of(self._conn.inner).query())
            session = held.enter_context(
                (closed_session if has_tables else bare_session)(self._bounds, self._time_zone)
            )
            views = self._views(tree, held)
            with self.tell_errors(views):
                planned = list(views.plan_each(session.duck))
                self._check_rights(planned)
                if has_tables:
                    session.close_doors(path for view in planned for path in local_paths(view.plan))
                self._create(session.duck, planned)
                reader = session.duck.execute(self._sql).to_arrow_reader(_ROWS_AT_ONCE)
                first = next(reader, None)
                self.check_stopped()
            return StreamedAnswer(self, reader, first, views, held.pop_all())

    def _views(self, tree: SqlTree, held: ExitStack) -> SqlViews:
        given = {LAKE_PREFIX + key: value for key, value in self._conn.lake_properties.items()}
        views = SqlViews(self._conn, tree, given, _in_database(tree, self._database))
        held.callback(views.close)
        held.callback(self._use, None)
        return views

    def _create(self, duck: Any, planned: list[PlannedView]) -> None:
        self._use(duck)
        for view in planned:
            self.check_stopped()
            view.create()
        self.check_stopped()

    def _use(self, duck: Any) -> None:
        with self._lock:
            self._duck = duck

    def _check_rights(self, planned: list[PlannedView]) -> None:
        """The lake is read with rights of our own: the cluster is asked whether this person may read each table."""
        for view in planned:
            self.check_stopped()
            self._conn.table(str(view.request.path)).check_right()

    def check_stopped(self) -> None:
        """Raise if somebody has ended it."""
        if self._stopped.is_set():
            raise ErrorCode.OPERATION_NOT_ATTEMPTED.error("The question was stopped.")

    def tell_errors(self, views: SqlViews) -> _Told:
        """Around what DuckDB does: its errors become ours."""
        return _Told(self, views, self._sql)


class _Told:
    """Turns an error of DuckDB into what it comes from."""

    def __init__(self, question: StreamedQuestion, views: SqlViews, sql: str) -> None:
        self._question = question
        self._views = views
        self._sql = sql

    def __enter__(self) -> None:
        """Nothing yet."""

    def __exit__(self, kind: type[BaseException] | None, wrong: BaseException | None, at: object) -> None:
        import duckdb

        # A batch that breaks on its way to Arrow is told by Arrow, with DuckDB's text.
        if isinstance(wrong, duckdb.Error | pa.ArrowException | OSError | MemoryError):
            self._question.check_stopped()
            known = self._views.error(wrong)
            if isinstance(known, MemoryError):
                raise question_error(known, self._sql) from wrong
            is_ours = isinstance(known, LakewardError) and known.code is not ErrorCode.INVALID_SCAN_REQUEST
            raise (known if is_ours else question_error(wrong, self._sql)) from wrong


class StreamedAnswer:
    """Rows as they come; whoever has it closes it."""

    def __init__(
        self,
        question: StreamedQuestion,
        reader: pa.RecordBatchReader,
        first: pa.RecordBatch | None,
        views: SqlViews,
        held: ExitStack,
    ) -> None:
        self.schema: pa.Schema = reader.schema
        self._question = question
        self._reader = reader
        self._first = first
        self._views = views
        self._held = held

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        batch = self._first
        while batch is not None:
            self._first = None  # nobody holds rows that were taken
            yield batch
            with self._question.tell_errors(self._views):
                batch = next(self._reader, None)
            self._question.check_stopped()
        self._views.count_files()

    def stop(self) -> None:
        """End it from any thread; whoever reads it is told so."""
        self._question.stop()

    def close(self) -> None:
        """Let go of it, read or not."""
        self.stop()
        self._held.close()


class _Anywhere(dict[str, str]):
    """Names without a database are in one."""

    def __init__(self, database: str) -> None:
        self._database = database

    def get(self, name: str, _else: str | None = None) -> str:  # type: ignore[override]
        """The full name."""
        return name if "." in name else f"{self._database}.{name}"


def _in_database(tree: SqlTree, database: str | None) -> Mapping[str, str]:
    """Full names of the tables that are named without a database."""
    if database is None:
        return {}
    return {ref.name.lower(): f"{database}.{ref.table}" for ref in tree.tables() if not ref.schema}
