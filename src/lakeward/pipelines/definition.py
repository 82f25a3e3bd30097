"""PipelineDefinition: what a file says, as values. Secrets are in `options`, which no `repr` shows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from lakeward.capture.port import TableId
from lakeward.options.secrets import HIDDEN, is_of_secret
from lakeward.pipelines.patterns import TablePattern
from lakeward.pipelines.rows.behavior import SchemaChanges


@dataclass(frozen=True, slots=True)
class End:
    """A source or a sink."""

    type: str
    options: Mapping[str, str] = field(repr=False)
    secrets: frozenset[str] = field(default=frozenset(), repr=False)
    """Options whose values came by a reference."""

    def plain_options(self) -> dict[str, str]:
        """The options as everybody may see them."""
        return {
            key: HIDDEN if key in self.secrets or is_of_secret(key) else value for key, value in self.options.items()
        }

    def hidden_values(self) -> tuple[str, ...]:
        """What must not be told, longest first."""
        found = {self.options[key] for key in self.options if key in self.secrets or is_of_secret(key)}
        return tuple(sorted((value for value in found if value), key=len, reverse=True))


@dataclass(frozen=True, slots=True)
class Route:
    """Tables that go somewhere else than under their own name."""

    source: TablePattern
    sink_table: str
    replace_symbol: str | None = None
    description: str | None = None

    def target(self, table: TableId) -> str:
        """Where a table goes."""
        return self.sink_table.replace(self.replace_symbol, table.name) if self.replace_symbol else self.sink_table


@dataclass(frozen=True, slots=True)
class Transform:
    """What becomes of the rows of some tables."""

    source: TablePattern
    projection: str | None = None
    filter: str | None = None
    primary_keys: tuple[str, ...] = ()
    partition_keys: tuple[str, ...] = ()
    table_options: Mapping[str, str] = field(default_factory=dict)
    description: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PipelineDefinition:
    """One pipeline."""

    name: str
    file: str
    source: End
    sink: End
    tables: tuple[TablePattern, ...]
    exclude: tuple[TablePattern, ...] = ()
    routes: tuple[Route, ...] = ()
    transforms: tuple[Transform, ...] = ()
    parallelism: int | None = None
    schema_changes: SchemaChanges = SchemaChanges.LENIENT
    time_zone: str | None = None
    checkpoints: str | None = None
    settings: Mapping[str, str] = field(default_factory=dict)
    """The other settings of `pipeline`: spark.… and client.…."""

    @property
    def is_of_one_table(self) -> bool:
        """Whether it can never follow more than one."""
        return len(self.tables) == 1 and self.tables[0].is_plain

    def names(self, table: TableId) -> bool:
        """Whether it is about this table."""
        wanted = any(pattern.matches(table) for pattern in self.tables)
        return wanted and not any(pattern.matches(table) for pattern in self.exclude)

    def transform_of(self, table: TableId) -> Transform | None:
        """The first that is about this table."""
        return next((one for one in self.transforms if one.source.matches(table)), None)

    def sink_table(self, table: TableId) -> str:
        """Where a table goes: by the first route, else as the sink says, else under its own name."""
        route = next((one for one in self.routes if one.source.matches(table)), None)
        if route is not None:
            return route.target(table)
        database = self.sink.options.get("database-name", table.space)
        return f"{database}.{self.sink.options.get('table-name', table.name)}"

    def shares_sink_table(self, table: TableId) -> bool:
        """Whether rows of other tables may go where those of this one go."""
        route = next((one for one in self.routes if one.source.matches(table)), None)
        if route is not None:
            return route.replace_symbol is None and not route.source.is_plain
        return "table-name" in self.sink.options and not self.is_of_one_table

    def without_secrets(self, text: str) -> str:
        """A text in which none of its secrets stands."""
        for value in (*self.source.hidden_values(), *self.sink.hidden_values()):
            text = text.replace(value, HIDDEN)
        return text
