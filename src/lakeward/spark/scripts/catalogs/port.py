"""Catalog: databases and tables under one name, wherever they are. CREATE CATALOG makes one, by its 'type'."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from lakeward.language.statements.define import TableChange
from lakeward.language.statements.statement import Options
from lakeward.language.statements.table_definition import TableDefinition


@dataclass(frozen=True, slots=True)
class Made:
    """Whether something was made, or was there already as it is described; and what the user should know."""

    is_new: bool
    notices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class DatabaseDefinition:
    """What CREATE DATABASE said."""

    comment: str | None = None
    options: Options = field(default_factory=dict)


class Catalog(Protocol):
    """What CREATE CATALOG makes. Every error is a LakewardError in a sentence that names table and catalog."""

    @property
    def name(self) -> str:
        """Its name in the script."""

    @property
    def kind(self) -> str:
        """The 'type' it was made with."""

    @property
    def default_database(self) -> str:
        """The database that USE CATALOG goes to."""

    @property
    def spark_settings(self) -> Mapping[str, str]:
        """What a Spark session is told, so that its own SQL knows the catalog too; secrets may be among them."""

    def databases(self) -> list[str]:
        """Their names."""

    def database(self, name: str) -> DatabaseDefinition | None:
        """A database; None if there is none."""

    def create_database(self, name: str, comment: str | None, options: Options) -> Made:
        """Make a database; one that is there is no error."""

    def drop_database(self, name: str, *, if_exists: bool, is_cascade: bool) -> None:
        """Drop a database; one with tables only by CASCADE."""

    def tables(self, database: str) -> list[str]:
        """The names of a database's tables."""

    def definition(self, database: str, name: str) -> TableDefinition | None:
        """A table, with options that its connector understands ('connector' among them); None if there is none."""

    def create_table(self, table: TableDefinition) -> Made:
        """Make a table; one that is there and is the same is no error, one that differs is."""

    def drop_table(self, database: str, name: str, *, if_exists: bool) -> None:
        """Drop a table."""

    def alter_table(self, table: TableDefinition, change: TableChange) -> tuple[str, ...]:
        """Change a table; what the user should know."""
