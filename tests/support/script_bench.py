"""A script as tests use it: run, settle, look at rows, begin again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lakeward.spark.scripts.script import Script
from lakeward.spark.scripts.state.outcome import Outcome

Row = tuple[Any, ...]


class Bench:
    """A script, and what a test asks of it; `database` is where its tables are."""

    def __init__(self, make: Callable[[], Script], database: str) -> None:
        self._make = make
        self.database = database
        self.script = make()

    def run(self, text: str) -> list[Outcome]:
        """Run statements, and wait until all jobs have done what there is to do."""
        outcomes = self.script.run(text)
        self.settle()
        return outcomes

    def settle(self) -> None:
        """Wait until every job has read all rows there are."""
        for job in self.script.jobs.running:
            for stream in job.streams:
                stream.query.processAllAvailable()

    def rows(self, query: str) -> list[Row]:
        """The rows of a query, sorted."""
        (outcome,) = self.script.run(query)
        return sorted((tuple(row.values()) for row in outcome.rows().to_pylist()), key=repr)

    def table(self, name: str) -> list[Row]:
        """All rows of a table, sorted, read as they are now."""
        mode = self.script.settings.all.get("execution.runtime-mode")
        self.script.run("SET 'execution.runtime-mode' = 'batch'")
        found = self.rows(f"SELECT * FROM {name}")
        self.script.run(f"SET 'execution.runtime-mode' = '{mode or 'automatic'}'")
        return found

    def restart(self) -> None:
        """Stop all jobs and begin again, as another run of the program would."""
        self.script.jobs.stop()
        self.script = self._make()
