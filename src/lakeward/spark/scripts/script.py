"""Script: runs statements one after another on a Spark session; streams go on as jobs.

from lakeward.spark import session, script

outcomes = script(session()).run("SELECT * FROM shop.orders")
outcomes[0].rows()
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from lakeward.errors import LakewardError
from lakeward.language.grammar import read_script
from lakeward.language.place import ScriptError
from lakeward.language.statements.create_table import CreateTable
from lakeward.language.statements.define import (
    AlterTable,
    AlterView,
    CreateCatalog,
    CreateDatabase,
    CreateView,
    Describe,
    Drop,
    Show,
    Use,
)
from lakeward.language.statements.rows import (
    Explain,
    Insert,
    Reset,
    RowChange,
    Select,
    SetOption,
    SparkStatement,
    StatementSet,
    StopJob,
)
from lakeward.language.statements.statement import Statement
from lakeward.options.secrets import shown_value
from lakeward.spark.scripts.connectors.port import Surroundings, write_to_standard_output
from lakeward.spark.scripts.jobs.jobs import Jobs
from lakeward.spark.scripts.jobs.spark_failure import is_of_spark
from lakeward.spark.scripts.state.outcome import Outcome
from lakeward.spark.scripts.state.script_settings import ScriptSettings
from lakeward.spark.scripts.state.script_tables import ScriptTables
from lakeward.spark.scripts.state.spark_place import place_in, spark_error
from lakeward.spark.scripts.statements import (
    change_rows,
    define_tables,
    define_views,
    describe,
    insert,
    jobs_here,
    select,
    tell,
)
from lakeward.spark.scripts.statements.context import Context, within

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

DEFAULT_SERVER = "localhost:9123"
_IN_QUOTES = "'"
_SERVERS_OF_SESSION = "spark.sql.catalog.fluss.bootstrap.servers"
_Handler = Callable[[Any, Context], Outcome]


def _insert(statement: Insert, context: Context) -> Outcome:
    return insert.insert(statement, (statement,), context)


def _insert_all(statement: StatementSet, context: Context) -> Outcome:
    return insert.insert(statement, statement.inserts, context)


def _create_table(statement: CreateTable, context: Context) -> Outcome:
    make = define_tables.create_table if statement.query is None else insert.create_table_as
    return make(statement, context)


def _set(statement: SetOption, context: Context) -> Outcome:
    if statement.key is None:
        known = context.settings.all
        shown = [shown_value(key, value) for key, value in known.items()]
        return Outcome(statement=statement, table=pa.table({"key": list(known), "value": shown}))
    assert statement.value is not None
    notice = context.settings.set(statement.key, statement.value)
    message = f"{statement.key} = {shown_value(statement.key, statement.value)}"
    return Outcome(statement=statement, message=message, notices=() if notice is None else (notice,))


def _reset(statement: Reset, context: Context) -> Outcome:
    for key in context.settings.reset(statement.key):
        before = context.changed.pop(key, None)
        if before is None:
            context.spark.conf.unset(key)
        else:
            context.spark.conf.set(key, before)
    return Outcome(statement=statement, message=statement.key or "all settings")


_HANDLERS: dict[type[Statement], _Handler] = {
    AlterTable: define_tables.alter_table,
    AlterView: define_views.alter_view,
    CreateCatalog: define_tables.create_catalog,
    CreateDatabase: define_tables.create_database,
    CreateTable: _create_table,
    CreateView: define_views.create_view,
    Describe: describe.describe,
    Drop: define_tables.drop,
    Explain: select.explain,
    Insert: _insert,
    Reset: _reset,
    RowChange: change_rows.change_rows,
    Select: select.select,
    SetOption: _set,
    Show: tell.show,
    SparkStatement: change_rows.run_on_spark,
    StatementSet: _insert_all,
    StopJob: jobs_here.stop_job,
    Use: define_tables.use,
}


def script(
    spark: SparkSession, *, server: str | None = None, checkpoints: str | None = None, **settings: str
) -> Script:
    """A script on a session: `script(spark).run("SELECT …")`.

    `server` is where tables are that name no servers: by itself that of the session's catalog `fluss`. Jobs keep
    their checkpoints in `checkpoints`, else beside their records. `settings` are those of SET.
    """
    known = spark.conf.get(_SERVERS_OF_SESSION, None)
    return Script(
        spark, server=server or known or DEFAULT_SERVER, jobs=Jobs(checkpoints=checkpoints), settings=settings
    )


class Script:
    """Names, settings and jobs of one script; `run` it in one piece, or its statements one by one."""

    def __init__(
        self,
        spark: SparkSession | Callable[[], SparkSession],
        *,
        server: str = DEFAULT_SERVER,
        jobs: Jobs | None = None,
        settings: Mapping[str, str] | None = None,
        client_options: Mapping[str, str] | None = None,
        path: str | None = None,
        write_line: Callable[[str], None] = write_to_standard_output,
    ) -> None:
        """`spark` may be a function that gives the session when it is first needed; `path` is the script's own."""
        surroundings = Surroundings(
            bootstrap_servers=server, client_options=dict(client_options or {}), write_line=write_line
        )
        given = jobs
        self._context = Context(
            spark_of=spark if callable(spark) else lambda: spark,
            tables=ScriptTables(surroundings),
            settings=ScriptSettings(settings),
            jobs_of=lambda: self.jobs,
            script=path,
        )
        self.jobs = given or Jobs()

    @property
    def tables(self) -> ScriptTables:
        """What the names stand for."""
        return self._context.tables

    @property
    def settings(self) -> ScriptSettings:
        """What SET has said."""
        return self._context.settings

    def run(self, text: str) -> list[Outcome]:
        """Run all statements; the first that is wrong raises ScriptError, those before it stand."""
        return list(self.statements(text))

    def statements(self, text: str) -> Iterator[Outcome]:
        """Run statements one by one."""
        for statement in read_script(text):
            yield self.execute(statement)

    def execute(self, statement: Statement) -> Outcome:
        """Run one statement; whatever is wrong is a ScriptError that says where."""
        try:
            with within(statement):
                return self._handle(statement)
        except ScriptError:
            raise
        except LakewardError as wrong:
            raise ScriptError(place_in(statement, wrong.message, _IN_QUOTES), wrong.message) from wrong
        except Exception as wrong:
            if not is_of_spark(wrong):
                raise
            raise spark_error(statement, wrong) from wrong

    def _handle(self, statement: Statement) -> Outcome:
        is_of_table = isinstance(statement, (AlterTable, AlterView, Describe, Drop))
        if is_of_table and getattr(statement, "what", "TABLE") in {"TABLE", "VIEW"}:
            assert isinstance(statement, (AlterTable, AlterView, Describe, Drop))
            if self._context.tables.find(statement.name.parts) is None and self._context.is_sparks(statement.name):
                return change_rows.run_on_spark(statement, self._context)
        return _HANDLERS[type(statement)](statement, self._context)
