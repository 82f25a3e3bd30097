"""Statements that read and write rows."""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from lakeward.language.statements.statement import Name, Options, Statement


@dataclass(frozen=True, slots=True, kw_only=True)
class Insert(Statement):
    """INSERT INTO | OVERWRITE table [PARTITION (…)] [(columns)] SELECT | VALUES …."""

    target: Name
    query: exp.Query
    query_text: str
    columns: tuple[str, ...] = ()
    partition: tuple[tuple[str, str], ...] = ()
    is_overwrite: bool = False
    hint: Options | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StatementSet(Statement):
    """EXECUTE STATEMENT SET BEGIN … END: several inserts that are one job."""

    inserts: tuple[Insert, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Select(Statement):
    """A query whose rows are shown."""

    query: exp.Query


@dataclass(frozen=True, slots=True, kw_only=True)
class RowChange(Statement):
    """UPDATE, DELETE, MERGE INTO or TRUNCATE: names and functions are translated, Spark does the rest."""

    kind: str
    tree: exp.Expression


@dataclass(frozen=True, slots=True, kw_only=True)
class Explain(Statement):
    """EXPLAIN [details] statement."""

    statement: Statement
    details: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SetOption(Statement):
    """SET 'key' = 'value'; without a key all settings are shown."""

    key: str | None = None
    value: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Reset(Statement):
    """RESET ['key']."""

    key: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StopJob(Statement):
    """STOP JOB name."""

    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SparkStatement(Statement):
    """Anything else: Spark's own SQL, handed over as it was written."""
