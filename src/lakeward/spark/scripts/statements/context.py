"""Context: what the statements of one script share."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from typing import TYPE_CHECKING

from lakeward.language.place import ScriptError
from lakeward.language.statements.statement import Name, Statement
from lakeward.spark.scripts.jobs.jobs import Jobs
from lakeward.spark.scripts.planning.spark_engine import SparkEngine
from lakeward.spark.scripts.state.script_settings import ScriptSettings
from lakeward.spark.scripts.state.script_tables import ScriptTables
from lakeward.spark.setup.secret_settings import add_settings

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_numbers = count(1)


def new_view() -> str:
    """A name for a view of the session that no other has."""
    return f"__lakeward_{next(_numbers)}"


@dataclass
class Context:
    """Names, settings, jobs, and the Spark session, which may still be starting."""

    spark_of: Callable[[], SparkSession]
    tables: ScriptTables
    settings: ScriptSettings
    jobs_of: Callable[[], Jobs]
    script: str | None = None
    """The path of the script, for the names of jobs."""
    changed: dict[str, str | None] = field(default_factory=dict)

    @property
    def spark(self) -> SparkSession:
        """The session, with the settings of the script in it."""
        spark = self.spark_of()
        for key, value in list(self.settings.changed.items()):
            if key not in self.changed:
                self.changed[key] = spark.conf.get(key, None)
            if spark.conf.get(key, None) != value:
                add_settings(spark, {key: value})
        return spark

    @property
    def jobs(self) -> Jobs:
        """The jobs of this process."""
        return self.jobs_of()

    def is_sparks(self, name: Name) -> bool:
        """Whether a name that no catalog of the script has is a table of Spark's own."""
        return self.tables.find(name.parts) is None and self.spark.catalog.tableExists(quoted_name(name))

    def engine(self) -> SparkEngine:
        """The tables of one statement."""
        return SparkEngine(self.spark, self.tables, new_view)


def quoted_name(name: Name) -> str:
    """A name as Spark takes it."""
    return ".".join(f"`{part.replace('`', '``')}`" for part in name.parts)


@contextmanager
def within(statement: Statement) -> Iterator[None]:
    """A plan tells places as offsets in the statement's text; here they become lines and columns of the script."""
    try:
        yield
    except ScriptError as wrong:
        if wrong.place.line:
            raise
        place = statement.place.after(statement.text[: wrong.place.column])
        raise ScriptError(place, wrong.sentence) from wrong
