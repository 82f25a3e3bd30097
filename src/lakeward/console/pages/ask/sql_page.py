"""SQL: a question over tables of the cluster, lake and log as one. Its rows, a chart of them, and how it was read."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import Any

from starlette.responses import Response, StreamingResponse

from lakeward.console.frame.page import Page
from lakeward.console.frame.visit import Visit
from lakeward.console.pages.ask.csv_rows import csv_lines
from lakeward.console.pages.ask.plan_picture import LABEL_WIDTH, LANE_HEIGHT, WIDTH, plan_picture
from lakeward.console.pages.ask.questions import TIME_LIMIT_S, Questions
from lakeward.console.pages.ask.sql_texts import error_place, sql_name
from lakeward.console.pages.table_choice import table_names
from lakeward.console.rows.shown_rows import shown_rows
from lakeward.errors import DeniedError, ErrorCode, LakewardError
from lakeward.options.secrets import without_passwords
from lakeward.query.duckdb.question.bounded_sql import BoundedAnswer, QuestionBounds
from lakeward.query.duckdb.question.question_error import QuestionError

_SHOWN_BOUNDS = QuestionBounds(rows_max=1000, bytes_max=16 << 20)
_FILE_BOUNDS = QuestionBounds(rows_max=100_000, bytes_max=128 << 20)
_SQL_LENGTH_MAX = 20_000
_TABLES_SHOWN = 100
_questions = Questions()


async def show_form(visit: Visit) -> Response:
    """The page before anything is asked; `table` in the address begins a question over it."""
    table = visit.query("table")
    return await _show(visit, f"SELECT *\nFROM {sql_name(table)}\nLIMIT 100" if table else "")


async def answer_question(visit: Visit) -> Response:
    """The page with the answer, or with what is wrong."""
    sql = visit.field("sql")
    try:
        answer = await _ask(visit, sql, _SHOWN_BOUNDS)
    except LakewardError as wrong:
        return await _show(visit, sql, error=_error_of(sql, wrong))
    return await _show(visit, sql, answer=_view_of(answer))


async def send_file(visit: Visit) -> Response:
    """The rows as CSV."""
    sql = visit.field("sql")
    try:
        answer = await _ask(visit, sql, _FILE_BOUNDS)
    except LakewardError as wrong:
        return await _show(visit, sql, error=_error_of(sql, wrong))
    headers = {"Content-Disposition": 'attachment; filename="answer.csv"'}
    return StreamingResponse(_pieces(csv_lines(answer.rows)), media_type="text/csv; charset=utf-8", headers=headers)


async def _pieces(lines: Iterator[str]) -> AsyncIterator[str]:
    for piece in lines:
        yield piece


async def _ask(visit: Visit, sql: str, bounds: QuestionBounds) -> BoundedAnswer:
    if not sql.strip():
        raise QuestionError(ErrorCode.INVALID_SCAN_REQUEST, "Type a question, such as SELECT * FROM db.table LIMIT 10.")
    if len(sql) > _SQL_LENGTH_MAX:
        told = f"A question has at most {_SQL_LENGTH_MAX:,} characters; this one has {len(sql):,}."
        raise QuestionError(ErrorCode.INVALID_SCAN_REQUEST, told)
    connection = await visit.connection()

    async def is_gone() -> bool:
        return visit.house.closing.is_set() or await visit.request.is_disconnected()

    return await _questions.ask(visit.visitor, connection, sql, bounds, is_gone)


async def _show(visit: Visit, sql: str, **values: Any) -> Response:
    try:
        tables = await table_names(await visit.connection())
    except DeniedError:
        raise
    except LakewardError:
        tables = []  # the question says that the cluster is away
    known = {
        "sql": sql,
        "error": None,
        "answer": None,
        "tables": [(name, sql_name(name)) for name in tables[:_TABLES_SHOWN]],
        "rows_max": _SHOWN_BOUNDS.rows_max,
        "file_rows_max": _FILE_BOUNDS.rows_max,
        "time_limit_s": round(TIME_LIMIT_S),
    }
    return visit.show("sql.html", **known | values)


def _view_of(answer: BoundedAnswer) -> dict[str, Any]:
    return {
        "rows": shown_rows(answer.rows),
        "count": answer.rows.num_rows,
        "is_cut": answer.is_cut,
        "pictures": [plan_picture(one.plan, one.whole) for one in answer.plans],
        "width": WIDTH,
        "label_width": LABEL_WIDTH,
        "lane_height": LANE_HEIGHT,
    }


def _error_of(sql: str, wrong: LakewardError) -> dict[str, Any]:
    position = wrong.position if isinstance(wrong, QuestionError) else None
    return {
        "message": without_passwords(wrong.message),
        "place": None if position is None else error_place(sql, position),
    }


PAGES = (
    Page("/sql", "SQL", show_form, nav="SQL", position=40),
    Page("/sql", "SQL", answer_question, method="POST", changes=False),
    Page("/sql/csv", "SQL", send_file, method="POST", changes=False),
)
