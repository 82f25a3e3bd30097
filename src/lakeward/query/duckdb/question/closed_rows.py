"""ClosedRows: a few tables of ours in a DuckDB that has no other door, for SQL of people who ask about them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from threading import Lock

import pyarrow as pa

from lakeward.query.duckdb.question.closed_session import DuckBounds, closed_session
from lakeward.query.duckdb.question.question_error import question_error
from lakeward.query.duckdb.question.sql_guard import check_question

_BOUNDS = DuckBounds(memory_bytes=256 << 20, spill_bytes=0, threads=1)


class ClosedRows:
    """Tables by name, with a schema in front, and statements that make views and macros of them. One ask at a time."""

    def __init__(self, tables: Mapping[str, pa.Table], more: Sequence[str]) -> None:
        self._held = ExitStack()
        self._lock = Lock()
        session = self._held.enter_context(closed_session(_BOUNDS))
        self._duck = session.duck
        for schema in {name.partition(".")[0] for name in tables}:
            self._duck.execute(f"CREATE SCHEMA IF NOT EXISTS {schema}")
        for name, rows in tables.items():
            self._duck.register("given", rows)
            self._duck.execute(f"CREATE TABLE {name} AS SELECT * FROM given")  # noqa: S608 - names of ours
            self._duck.unregister("given")
        for statement in more:
            self._duck.execute(statement)
        session.close_doors()

    def ask(self, sql: str) -> pa.Table:
        """The answer to a SELECT over these tables; QuestionError if it is none."""
        import duckdb

        check_question(sql)
        with self._lock:
            try:
                return self._duck.execute(sql).to_arrow_table()
            except duckdb.Error as wrong:
                raise question_error(wrong, sql) from wrong

    def stop(self) -> None:
        """End what is being asked; from any thread."""
        self._duck.interrupt()

    def close(self) -> None:
        """Let go of it."""
        with self._lock:
            self._held.close()
