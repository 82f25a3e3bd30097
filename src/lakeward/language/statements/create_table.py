"""CREATE TABLE: columns of three kinds, a key, a watermark, and what the connector is told."""

from __future__ import annotations

from dataclasses import dataclass, field

from sqlglot import exp

from lakeward.language.place import Place
from lakeward.language.statements.statement import Name, Options, Statement
from lakeward.model.data_types import DataType


@dataclass(frozen=True, slots=True)
class PhysicalColumn:
    """A column that the table stores; NOT NULL is part of the type."""

    name: str
    type: DataType
    comment: str | None = None


@dataclass(frozen=True, slots=True)
class ComputedColumn:
    """A column that is computed from the others when the table is read: `name AS expression`."""

    name: str
    expression: exp.Expression
    comment: str | None = None


@dataclass(frozen=True, slots=True)
class MetadataColumn:
    """A column that the connector knows beside the row: `name TYPE METADATA [FROM 'key'] [VIRTUAL]`."""

    name: str
    type: DataType
    key: str
    is_virtual: bool = False
    comment: str | None = None


ColumnDefinition = PhysicalColumn | ComputedColumn | MetadataColumn


@dataclass(frozen=True, slots=True)
class Watermark:
    """`WATERMARK FOR column AS expression`: how late rows may be by that column."""

    column: str
    expression: exp.Expression
    delay: str
    """The delay as an interval of Spark, such as `5 seconds`."""
    place: Place = field(default=Place(1, 1), compare=False)


@dataclass(frozen=True, slots=True)
class Distribution:
    """`DISTRIBUTED BY (columns) INTO n BUCKETS`; either may be absent."""

    columns: tuple[str, ...] = ()
    buckets: int | None = None


@dataclass(frozen=True, slots=True)
class Like:
    """`LIKE table [(INCLUDING … EXCLUDING … OVERWRITING …)]`; features are such as ("INCLUDING", "OPTIONS")."""

    name: Name
    features: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class CreateTable(Statement):
    """CREATE [TEMPORARY] TABLE … [AS SELECT …]."""

    name: Name
    columns: tuple[ColumnDefinition, ...] = ()
    primary_key: tuple[str, ...] = ()
    watermark: Watermark | None = None
    comment: str | None = None
    distribution: Distribution | None = None
    partitioned_by: tuple[str, ...] = ()
    options: Options = field(default_factory=dict)
    like: Like | None = None
    query: exp.Query | None = None
    is_temporary: bool = False
    if_not_exists: bool = False
    or_replace: bool = False
