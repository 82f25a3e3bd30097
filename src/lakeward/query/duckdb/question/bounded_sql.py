"""BoundedQuestion: a SELECT of somebody at a browser. So many rows, so much memory, and it can be stopped."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from threading import Event, Lock
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from lakeward.errors import ErrorCode, LakewardError
from lakeward.options.spark import LAKE_PREFIX
from lakeward.query.duckdb.duckdb_views import local_paths
from lakeward.query.duckdb.keyword_hint import keyword_hint
from lakeward.query.duckdb.question.closed_session import ClosedSession, DuckBounds, closed_session
from lakeward.query.duckdb.question.question_error import QuestionError, character_at, question_error
from lakeward.query.duckdb.question.sql_guard import check_question
from lakeward.query.duckdb.sql_tree import SqlTree, error_position
from lakeward.query.duckdb.sql_views import PlannedView, SqlViews
from lakeward.query.plan.log_bytes import with_log_bytes
from lakeward.query.plan.plan import Plan
from lakeward.query.plan.planner import plan_once
from lakeward.query.plan.replan import replan
from lakeward.query.read.query_metrics import metrics_of

if TYPE_CHECKING:
    from lakeward.client.blocking.sync import Connection

_ROWS_AT_ONCE = 2048


@dataclass(frozen=True, slots=True)
class QuestionBounds:
    """How much comes back, and what finding it may take."""

    rows_max: int = 1000
    bytes_max: int = 32 << 20
    duck: DuckBounds = field(default_factory=DuckBounds)


@dataclass(frozen=True, slots=True)
class TablePlan:
    """What is read of one table; `whole` is what would be read without filters, where there are some."""

    plan: Plan
    whole: Plan | None


@dataclass(frozen=True, slots=True)
class BoundedAnswer:
    """Rows, whether there would be more, and what was read for them."""

    rows: pa.Table
    is_cut: bool
    plans: tuple[TablePlan, ...]


class BoundedQuestion:
    """One question; `answer` blocks, `stop` may be called from any thread, and more than once."""

    def __init__(self, conn: Connection, sql: str, bounds: QuestionBounds) -> None:
        self._conn = conn
        self._sql = sql
        self._bounds = bounds
        self._stopped = Event()
        self._lock = Lock()
        self._duck: Any = None

    def answer(self, *, explains: bool = True) -> BoundedAnswer:
        """The answer. QuestionError if the text is wrong; what else may go wrong is a LakewardError, too."""
        try:
            tree = check_question(self._sql)
        except QuestionError:
            raise
        except LakewardError as wrong:
            at = error_position(self._sql)
            told = wrong.message + keyword_hint(self._conn, self._sql, {})
            raise QuestionError(wrong.code, told, None if at is None else character_at(self._sql, at)) from wrong
        with metrics_of(self._conn.inner).query():
            return replan(self._conn, lambda: self._answer(tree, explains))

    def stop(self) -> None:
        """End it as soon as may be; `answer` then raises."""
        self._stopped.set()
        with self._lock:
            if self._duck is not None:
                self._duck.interrupt()

    def _answer(self, tree: SqlTree, explains: bool) -> BoundedAnswer:
        import duckdb

        given = {LAKE_PREFIX + key: value for key, value in self._conn.lake_properties.items()}
        views = SqlViews(self._conn, tree, given, {})
        with closed_session(self._bounds.duck) as session:
            try:
                planned = list(views.plan_each(session.duck))
                self._check_rights(planned)
                plans = tuple(self._explain(view) for view in planned) if explains else ()
                self._begin(session, planned)
                rows, is_cut = self._read(session.duck)
            except (duckdb.Error, MemoryError) as wrong:
                self._check_stopped()
                known = views.error(wrong)
                if isinstance(known, MemoryError):
                    raise question_error(known, self._sql) from wrong
                is_ours = isinstance(known, LakewardError) and known.code is not ErrorCode.INVALID_SCAN_REQUEST
                raise (known if is_ours else question_error(wrong, self._sql)) from wrong
            finally:
                with self._lock:
                    self._duck = None
                views.close()
        views.count_files()
        return BoundedAnswer(rows, is_cut, plans)

    def _check_rights(self, planned: list[PlannedView]) -> None:
        """The lake is read with rights of our own: the cluster is asked whether this person may read the table."""
        for view in planned:  # whoever did not log in has rights, too: those of ANONYMOUS
            self._conn.table(str(view.request.path)).check_right()

    def _begin(self, session: ClosedSession, planned: list[PlannedView]) -> None:
        self._check_stopped()
        session.close_doors(path for view in planned for path in local_paths(view.plan))
        with self._lock:
            self._duck = session.duck
        for view in planned:
            self._check_stopped()
            view.create()

    def _read(self, duck: Any) -> tuple[pa.Table, bool]:
        self._check_stopped()
        most, bytes_left = self._bounds.rows_max, self._bounds.bytes_max
        reader = duck.execute(self._sql).to_arrow_reader(min(most + 1, _ROWS_AT_ONCE))
        found: list[pa.RecordBatch] = []
        for batch in reader:
            self._check_stopped()
            if batch.num_rows > most or batch.nbytes > bytes_left:
                if not found and batch.nbytes > batch.num_rows * bytes_left:
                    told = f"A row of the answer is larger than {bytes_left >> 20} MB; ask for less of it."
                    raise QuestionError(ErrorCode.INVALID_SCAN_REQUEST, told)
                part = batch.slice(0, min(most, batch.num_rows * bytes_left // max(batch.nbytes, 1)))
                return pa.Table.from_batches([*found, part], reader.schema), True
            found.append(batch)
            most -= batch.num_rows
            bytes_left -= batch.nbytes
        return pa.Table.from_batches(found, reader.schema), False

    def _explain(self, view: PlannedView) -> TablePlan:
        self._check_stopped()
        table = self._conn.table(str(view.request.path))
        whole = plan_once(self._conn, replace(view.request, filters=())) if view.request.filters else None
        return TablePlan(with_log_bytes(table, view.plan), whole)

    def _check_stopped(self) -> None:
        if self._stopped.is_set():
            raise ErrorCode.OPERATION_NOT_ATTEMPTED.error("The question was stopped.")
