"""TableDefinition: a table of a script, wherever its rows are."""

from __future__ import annotations

from dataclasses import dataclass, field

from lakeward.language.statements.create_table import (
    ColumnDefinition,
    Distribution,
    PhysicalColumn,
    Watermark,
)
from lakeward.language.statements.statement import Options


@dataclass(frozen=True, slots=True, kw_only=True)
class TableDefinition:
    """What CREATE TABLE said, LIKE included; hints of a query are merged into the options before it is used."""

    catalog: str
    database: str
    name: str
    columns: tuple[ColumnDefinition, ...]
    primary_key: tuple[str, ...] = ()
    watermark: Watermark | None = None
    distribution: Distribution | None = None
    partitioned_by: tuple[str, ...] = ()
    comment: str | None = None
    options: Options = field(default_factory=dict)

    def __str__(self) -> str:
        return f"{self.catalog}.{self.database}.{self.name}"

    @property
    def physical(self) -> tuple[PhysicalColumn, ...]:
        """The columns that the connector stores."""
        return tuple(column for column in self.columns if isinstance(column, PhysicalColumn))
