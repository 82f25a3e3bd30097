"""Catalogs, databases and views: created, used, shown, described and dropped; tables altered."""

from __future__ import annotations

from dataclasses import dataclass, field

from sqlglot import exp

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Describe(Statement):
    """DESCRIBE [EXTENDED] table."""

    name: Name
    is_extended: bool = False


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
class ChangePartition:
    """ADD | DROP [IF …] PARTITION (key = 'value', …)."""

    is_added: bool
    values: tuple[tuple[str, str], ...]
    is_lenient: bool = False


TableChange = RenameTable | SetOptions | ResetOptions | AddColumns | ChangePartition


@dataclass(frozen=True, slots=True, kw_only=True)
class AlterTable(Statement):
    """ALTER TABLE name change; what is not among the changes is Spark's to understand (SparkStatement)."""

    name: Name
    change: TableChange
    if_exists: bool = False
