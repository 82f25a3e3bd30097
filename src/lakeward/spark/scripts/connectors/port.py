"""Connector: where the rows of a script's table come from and go to. One class, found by an entry point.

A connector is asked for a source or a sink of a table whose options were checked against the connector's own rows.
Anyone can add one: a class of this shape, made with the script's Surroundings, under the entry point group
`lakeward.connectors`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from lakeward.language.changes import Changes
from lakeward.language.statements.statement import Options
from lakeward.language.statements.table_definition import TableDefinition
from lakeward.options.option import OptionTable

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery
    from pyspark.sql.streaming.readwriter import DataStreamWriter

ENTRY_POINTS = "lakeward.connectors"


class Source(Protocol):
    """The rows of a table. Frames have the table's physical and metadata columns, by name, in the table's order."""

    @property
    def is_bounded(self) -> bool:
        """Whether a stream of it comes to an end."""

    @property
    def changes(self) -> Changes:
        """What the rows of `stream` are; unless APPEND, they have CHANGE_TYPE as a further, first column."""

    def batch(self, spark: SparkSession) -> DataFrame:
        """The rows there are now."""

    def stream(self, spark: SparkSession) -> DataFrame:
        """The rows there are and those that will come."""

    def is_finished(self, end_offset: object) -> bool:
        """Whether a bounded stream has nothing after this offset, as `lastProgress` shows it."""


def write_to_standard_output(line: str) -> None:
    """Where the connector `print` writes unless the script says otherwise."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def write_to_standard_error(line: str) -> None:
    """Where it writes with 'standard-error'."""
    sys.stderr.write(f"{line}\n")
    sys.stderr.flush()


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What a script gives to its connectors."""

    bootstrap_servers: str = "localhost:9123"
    """The servers of tables that name none."""
    client_options: Options = field(default_factory=dict)
    """`client.*` for those servers."""
    write_line: Callable[[str], None] = write_to_standard_output
    write_error_line: Callable[[str], None] = write_to_standard_error


#: Hands out a writer for a frame with the job's checkpoint, name, output mode and trigger in place.
Begin = Callable[["DataFrame"], "DataStreamWriter"]


@dataclass(frozen=True, slots=True)
class Rows:
    """What goes into a sink: the sink's physical columns in order, and, unless rows are only added, CHANGE_TYPE."""

    frame: DataFrame
    has_changes: bool = False
    partition: Options = field(default_factory=dict)
    """What INSERT … PARTITION (…) names."""


class Sink(Protocol):
    """Where the rows of a statement go."""

    @property
    def takes(self) -> Changes:
        """APPEND: rows only; UPSERT: changes by the table's primary key; CHANGELOG: every change, without a key."""

    def write_batch(self, rows: Rows, *, overwrite: bool = False) -> None:
        """Write bounded rows, and return when they are kept.

        What is overwritten: the partition that is named, else those that get rows; all there is without partitions.
        """

    def write_stream(self, rows: Rows, begin: Begin) -> StreamingQuery:
        """Start to write a stream."""


class Connector(Protocol):
    """One kind of table."""

    @property
    def name(self) -> str:
        """The value of 'connector'."""

    @property
    def summary(self) -> str:
        """A sentence for the reference page."""

    @property
    def options(self) -> OptionTable:
        """The options it understands, as rows."""

    def ensure(self, table: TableDefinition) -> tuple[str, ...]:
        """Called by CREATE TABLE: check the definition and make what is absent; sentences that the user should read."""

    def source(self, table: TableDefinition) -> Source:
        """The table to read; a LakewardError if it cannot be read."""

    def sink(self, table: TableDefinition) -> Sink:
        """The table to write; a LakewardError if it cannot be written."""
