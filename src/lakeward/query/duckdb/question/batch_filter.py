"""BatchFilter: the rows of batches for which a condition is true. DuckDB decides, for a whole batch at a time."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pyarrow as pa

from lakeward.errors import LakewardError
from lakeward.query.duckdb.duck_types import select_sql, to_duck
from lakeward.query.duckdb.question.closed_session import DuckBounds, closed_session
from lakeward.query.duckdb.question.question_error import QuestionError, question_error
from lakeward.query.duckdb.question.sql_guard import check_condition

_BOUNDS = DuckBounds(memory_bytes=256 << 20, spill_bytes=0, threads=1)


class BatchFilter:
    """A condition over rows of one schema; used by one thread at a time."""

    def __init__(self, duck: Any, where: str) -> None:
        self._duck = duck
        self._where = where

    def matching(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """The rows for which the condition is true, in their order; QuestionError if it cannot be decided."""
        import duckdb

        numbered = pa.Table.from_batches([batch])
        self._duck.register("batch", to_duck(numbered))
        try:
            rows = select_sql(numbered.schema, "batch")
            # Which rows, not the rows themselves: they stay what they were, in types that DuckDB does not have.
            asked = f"SELECT ({self._where}\n) IS TRUE AS holds FROM ({rows})"  # noqa: S608 - looked at before
            holds = self._duck.execute(asked).to_arrow_table()
        except duckdb.Error as wrong:
            raise question_error(wrong, self._where) from wrong
        finally:
            self._duck.unregister("batch")
        return batch.filter(holds.column("holds").combine_chunks())

    def stop(self) -> None:
        """End what it is deciding; from any thread."""
        self._duck.interrupt()


@contextmanager
def batch_filter(where: str, schema: pa.Schema) -> Iterator[BatchFilter]:
    """A filter for batches of a schema; QuestionError at once if the condition is none, or fits no such row."""
    try:
        check_condition(where, tuple(schema.names))
    except QuestionError:
        raise
    except LakewardError as wrong:
        raise QuestionError(wrong.code, wrong.message) from wrong
    with closed_session(_BOUNDS) as session:
        session.close_doors()
        made = BatchFilter(session.duck, where)
        made.matching(_unknown_row(schema))
        yield made


def _unknown_row(schema: pa.Schema) -> pa.RecordBatch:
    """A row of NULLs, of which a condition that makes sense is not true."""
    nullable = pa.schema([pa.field(field.name, field.type) for field in schema])
    return pa.RecordBatch.from_arrays([pa.nulls(1, field.type) for field in schema], schema=nullable)
