"""The nouns of the catalog ↔ the records of the metadata store."""

from __future__ import annotations

from typing import Any

from lakeward.model import json_form
from lakeward.model.schema import Schema
from lakeward.model.table import TableInfo, TablePath
from lakeward.server.catalog.database import DatabaseInfo
from lakeward.server.catalog.partition import PartitionInfo
from lakeward.server.metadata_store.port import DatabaseRecord, PartitionRecord, SchemaRecord, TableRecord


def database_record(database: DatabaseInfo) -> DatabaseRecord:
    """A database as it is stored."""
    descriptor = _text(json_form.database_to_json(database.descriptor))
    return DatabaseRecord(database.name, descriptor, database.created_ms, database.modified_ms)


def database_of(record: DatabaseRecord) -> DatabaseInfo:
    """A database that was stored."""
    descriptor = json_form.parse_database(record.descriptor.encode())
    return DatabaseInfo(record.name, descriptor, record.created_ms, record.modified_ms)


def table_record(table: TableInfo) -> TableRecord:
    """A table as it is stored, with its latest schema."""
    return TableRecord(
        table.table_id,
        table.path.database,
        table.path.table,
        _text(json_form.descriptor_to_json(table.descriptor)),
        table.schema_id,
        table.created_ms,
        table.modified_ms,
    )


def table_of(record: TableRecord) -> TableInfo:
    """A table that was stored."""
    return TableInfo(
        TablePath(record.database, record.name),
        record.table_id,
        record.schema_id,
        json_form.parse_descriptor(record.descriptor.encode()),
        record.created_ms,
        record.modified_ms,
    )


def schema_record(table: TableInfo) -> SchemaRecord:
    """The latest schema of a table as it is stored."""
    return SchemaRecord(table.table_id, table.schema_id, _text(json_form.schema_to_json(table.schema)))


def schema_of(record: SchemaRecord) -> Schema:
    """A schema that was stored."""
    return json_form.parse_schema(record.schema.encode())


def partition_record(partition: PartitionInfo) -> PartitionRecord:
    """A partition as it is stored."""
    return PartitionRecord(partition.partition_id, partition.table_id, partition.name, partition.created_ms)


def partition_of(record: PartitionRecord) -> PartitionInfo:
    """A partition that was stored."""
    return PartitionInfo(record.partition_id, record.table_id, record.name, record.created_ms)


def _text(node: dict[str, Any]) -> str:
    return json_form.dump(node).decode()
