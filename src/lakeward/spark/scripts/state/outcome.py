"""Outcome: what became of one statement."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from lakeward.language.statements.statement import Statement
from lakeward.spark.scripts.jobs.spark_failure import is_of_spark
from lakeward.spark.scripts.state.spark_place import spark_error

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame

    from lakeward.spark.scripts.jobs.job import Job
    from lakeward.spark.scripts.state.live_rows import LiveRows


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """A sentence, and what there is to see: rows (`frame` or `table`), rows that go on coming, or a job."""

    statement: Statement
    message: str = ""
    notices: tuple[str, ...] = ()
    frame: DataFrame | None = None
    table: pa.Table | None = None
    live: LiveRows | None = None
    job: Job | None = None

    @property
    def has_rows(self) -> bool:
        """Whether there are rows to show, and they end."""
        return self.frame is not None or self.table is not None

    def rows(self) -> pa.Table:
        """The rows of a bounded answer."""
        if self.table is not None:
            return self.table
        assert self.frame is not None, "a statement without rows was asked for them"
        try:
            return self.frame.toArrow()
        except Exception as wrong:
            if not is_of_spark(wrong):
                raise
            raise spark_error(self.statement, wrong) from wrong
