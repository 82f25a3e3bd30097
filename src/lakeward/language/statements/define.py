"""Catalogs, databases and views: created, used, shown, described and dropped; tables altered."""

from __future__ import annotations

from dataclasses import dataclass, field

from sqlglot import exp

from lakeward.language.place import Place
from lakeward.language.statements.create_table import ColumnDefinition
from lakeward.language.statements.statement import Name, Options, Statement


@dataclass(frozen=True, slots=True, kw_only=True)
class CreateCatalog(Statement):
    """CREATE CATALOG name WITH ('type' = …)."""

    name: str
    options: Options = field(default_factory=dict)
    if_not_exists: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class CreateDatabase(Statement):
    """CREATE DATABASE name [COMMENT …] [WITH (…)]."""

    name: Name
    comment: str | None = None
    options: Options = field(default_factory=dict)
    if_not_exists: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class CreateView(Statement):
    """CREATE [OR REPLACE] [TEMPORARY] VIEW name [(columns)] AS SELECT …."""

    name: Name
    query: exp.Query
    query_text: str
    columns: tuple[str, ...] = ()
    comment: str | None = None
    is_temporary: bool = False
    if_not_exists: bool = False
    or_replace: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Use(Statement):
    """USE CATALOG name, or USE [catalog.]database."""

    catalog: str | None = None
    database: Name | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Show(Statement):
    """SHOW what; `what` is such as CATALOGS, CURRENT CATALOG, TABLES, CREATE TABLE, JOBS, FUNCTIONS."""

    what: str
    name: Name | None = None
    like: str | None = None
    is_negated: bool = False
    partition: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Describe(Statement):
    """DESCRIBE [CATALOG | DATABASE] [EXTENDED] name; `what` is TABLE, CATALOG or DATABASE."""

    name: Name
    is_extended: bool = False
    what: str = "TABLE"


@dataclass(frozen=True, slots=True, kw_only=True)
class Drop(Statement):
    """DROP CATALOG | DATABASE | [TEMPORARY] TABLE | [TEMPORARY] VIEW."""

    what: str
    name: Name
    if_exists: bool = False
    is_temporary: bool = False
    is_cascade: bool = False


@dataclass(frozen=True, slots=True)
class RenameTable:
    """RENAME TO name."""

    name: Name


@dataclass(frozen=True, slots=True)
class SetOptions:
    """SET ('key' = 'value', …)."""

    options: Options


@dataclass(frozen=True, slots=True)
class ResetOptions:
    """RESET ('key', …)."""

    keys: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class AddColumns:
    """ADD column, or ADD (column, …)."""

    columns: tuple[ColumnDefinition, ...]


@dataclass(frozen=True, slots=True)
class ChangePartitions:
    """ADD | DROP [IF …] PARTITION (key = 'value', …) …."""

    is_added: bool
    partitions: tuple[tuple[tuple[str, str], ...], ...]
    is_lenient: bool = False


@dataclass(frozen=True, slots=True)
class OtherChange:
    """A change that our tables cannot make, and why; one of Spark's own tables may."""

    why: str
    place: Place = field(default=Place(1, 1), compare=False)


TableChange = RenameTable | SetOptions | ResetOptions | AddColumns | ChangePartitions | OtherChange


@dataclass(frozen=True, slots=True, kw_only=True)
class AlterTable(Statement):
    """ALTER TABLE name change; what is not among the changes is Spark's to understand (SparkStatement)."""

    name: Name
    change: TableChange
    if_exists: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class AlterView(Statement):
    """ALTER VIEW name RENAME TO new_name, or ALTER VIEW name AS SELECT …."""

    name: Name
    new_name: Name | None = None
    query: exp.Query | None = None
    query_text: str = ""
