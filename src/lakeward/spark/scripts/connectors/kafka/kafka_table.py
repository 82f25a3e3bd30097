"""KafkaTable: what CREATE TABLE says → schema and options of the data source `lakeward.kafka`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from lakeward.errors import ErrorCode
from lakeward.formats.door.registry import format_of
from lakeward.language.changes import CHANGE_TYPE, Changes
from lakeward.language.statements.create_table import MetadataColumn
from lakeward.language.statements.table_definition import TableDefinition
from lakeward.model.data_types import STRING
from lakeward.model.schema import Column, Schema
from lakeward.model.type_text import parse_type
from lakeward.options.option import OptionTable, Scope
from lakeward.spark.ingest.kafka.ground import kafka_options as rows
from lakeward.spark.ingest.kafka.messages.bad_messages import on_error
from lakeward.spark.ingest.kafka.messages.table_shape import format_options, value_format

ERROR = "__error"
_CONNECTOR = "connector"
#: Options of the data source that a table says in another way.
_SAID_OTHERWISE = (rows.METADATA, rows.ERROR_COLUMN, rows.UPSERT, rows.INCLUDE_HEADERS)
#: Metadata columns in the types that Kafka has for them.
METADATA = {
    "topic": "STRING",
    "partition": "INT",
    "offset": "BIGINT",
    "timestamp": "TIMESTAMP_LTZ(3)",
    "timestamp-type": "STRING",
    "headers": "MAP<STRING, BYTES>",
    "leader-epoch": "INT",
    "key": "BYTES",
    "value": "BYTES",
}

KAFKA_TABLE_OPTIONS = OptionTable(Scope.CONNECTOR)
KAFKA_TABLE_OPTIONS.adopt(rows.KAFKA_OPTIONS, without={option.key for option in _SAID_OTHERWISE})
KAFKA_TABLE_OPTIONS.open_prefixes.update(rows.KAFKA_OPTIONS.open_prefixes)


@dataclass(frozen=True, slots=True)
class KafkaTable:
    """A table of a topic."""

    definition: TableDefinition
    options: Mapping[str, str]
    is_upsert: bool

    @classmethod
    def of(cls, table: TableDefinition, bootstrap: str, *, is_upsert: bool = False) -> KafkaTable:
        """Check a definition; `bootstrap` are the servers of a dead-letter table that names none."""
        given = {key: value for key, value in table.options.items() if key != _CONNECTOR}
        options = dict(KAFKA_TABLE_OPTIONS.canonical(key, value) for key, value in given.items())
        options.setdefault(rows.DEAD_LETTER_SERVERS.key, bootstrap)
        if is_upsert:
            _fit_upsert(table, options)
        elif table.primary_key:
            options.setdefault(rows.KEY_FIELDS.key, ";".join(table.primary_key))
        if value_format(options) is None:
            raise ErrorCode.INVALID_TABLE.error(
                f"Table {table} needs the option 'format', such as 'json': what messages hold."
            )
        _check_metadata(table)
        return cls(table, options, is_upsert)

    @property
    def physical(self) -> Schema:
        """The columns that messages hold."""
        return Schema.of([Column(column.name, column.type) for column in self.definition.physical])

    @property
    def metadata(self) -> tuple[MetadataColumn, ...]:
        """The columns that Kafka knows beside."""
        return tuple(column for column in self.definition.columns if isinstance(column, MetadataColumn))

    @property
    def changes(self) -> Changes:
        """What its messages are."""
        if self.is_upsert:
            return Changes.UPSERT
        name = value_format(self.options)
        assert name is not None
        decoder = format_of(name, self.physical, format_options(self.options, "value.")).decoder()
        return Changes.CHANGELOG if decoder.has_changes else Changes.APPEND

    @property
    def counts_errors(self) -> bool:
        """Whether messages that cannot be read are left out, and counted."""
        return on_error(self.options) != "fail"

    def reading(self) -> tuple[Schema, dict[str, str]]:
        """Schema and options of the source: change type, metadata, error, and the table's own columns."""
        columns = [] if self.changes is Changes.APPEND else [(CHANGE_TYPE, STRING())]
        columns += [(column.name, parse_type(METADATA[column.key])) for column in self.metadata]
        columns += [(column.name, column.type.as_nullable()) for column in self.physical.columns]
        options = dict(self.options)
        if self.metadata:
            options[rows.METADATA.key] = ";".join(f"{column.key}:{column.name}" for column in self.metadata)
        if self.counts_errors:
            columns.append((ERROR, STRING()))
            options[rows.ERROR_COLUMN.key] = ERROR
        return Schema.of(columns), options


def _fit_upsert(table: TableDefinition, options: dict[str, str]) -> None:
    if not table.primary_key:
        raise ErrorCode.INVALID_TABLE.error(
            f"Table {table} needs a PRIMARY KEY (…) NOT ENFORCED: 'upsert-kafka' keeps rows by it, as keys."
        )
    for needed in (rows.KEY_FORMAT, rows.VALUE_FORMAT):
        if needed.key not in options and rows.FORMAT.key not in options:
            raise ErrorCode.INVALID_TABLE.error(f"Table {table} needs the option '{needed.key}', such as 'json'.")
        options.setdefault(needed.key, options.get(rows.FORMAT.key, ""))
    options[rows.KEY_FIELDS.key] = ";".join(table.primary_key)
    options[rows.UPSERT.key] = "true"
    options.setdefault(rows.STARTUP_MODE.key, "earliest-offset")


def _check_metadata(table: TableDefinition) -> None:
    for column in table.columns:
        if isinstance(column, MetadataColumn) and column.key not in METADATA:
            raise ErrorCode.INVALID_TABLE.error(
                f"Table {table}: there is no METADATA '{column.key}' for column '{column.name}'; there are"
                f" {', '.join(METADATA)}."
            )
