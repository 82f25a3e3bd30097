"""A table's descriptor after a change: pure functions from the table and the wish to the new descriptor."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from lakeward.errors import ErrorCode
from lakeward.model.schema import Column
from lakeward.model.table import TableDescriptor, TableInfo
from lakeward.options import table as table_options
from lakeward.server.coordinator.tables import table_rules
from lakeward.server.coordinator.tables.alteration import Alteration, AlterOp, apply_alteration

#: Record batches carry the schema id in 16 bits.
SCHEMA_ID_MAX = 2**15 - 1
FIELD_ID_MAX = 2**31 - 1

_invalid_alter = ErrorCode.INVALID_ALTER_TABLE.error


def with_altered_properties(
    table: TableInfo, alterations: Sequence[Alteration], lake_format: str | None, *, may_be_tiered: bool
) -> TableDescriptor:
    """The descriptor with properties set and reset; keys that may not change are INVALID_ALTER_TABLE."""
    canonical = [_canonical(alteration) for alteration in alterations]
    own_keys = [a.key for a in canonical if a.key.startswith(table_options.PREFIX)]
    _check_alterable(own_keys)
    _check_fits_table(table, own_keys)
    table_rules.check_no_secrets(a.key for a in canonical if a.op != AlterOp.DELETE and a.key not in own_keys)
    properties = dict(table.descriptor.properties)
    custom = dict(table.descriptor.custom_properties)
    for alteration in canonical:
        apply_alteration(properties if alteration.key.startswith(table_options.PREFIX) else custom, alteration)
    if table_options.LAKE_ENABLED.read(properties) and not table_options.LAKE_ENABLED.read(table.descriptor.properties):
        if not may_be_tiered:
            raise _invalid_alter(
                f"Table {table.path} cannot be tiered, because the Fluss cluster doesn't enable datalake tables:"
                " 'datalake.enabled' is false."
            )
        # The format decides how keys are encoded; a table that has keys already keeps the encoding they have.
        if lake_format is not None and not table.descriptor.bucket_keys:
            properties.setdefault(table_options.LAKE_FORMAT.key, lake_format)
        table_rules.check_lake_columns(table.schema)
    return replace(table.descriptor, properties=properties, custom_properties=custom)


def with_added_columns(table: TableInfo, columns: Sequence[Column]) -> TableDescriptor:
    """The descriptor with columns added at the end."""
    if table.schema_id >= SCHEMA_ID_MAX:
        raise _invalid_alter(f"Table {table.path} has had {SCHEMA_ID_MAX} schemas; it can have no more.")
    schema = table.schema
    for column in columns:
        if column.name in schema.positions:
            raise _invalid_alter(f"Column {column.name} already exists in table {table.path}.")
        if not column.type.nullable:
            raise ErrorCode.UNKNOWN_SERVER_ERROR.error(
                f"Column {column.name} must be nullable: the rows that table {table.path} has hold no value for it."
            )
        schema = schema.add_column(column)
    if schema.highest_field_id > FIELD_ID_MAX:
        raise _invalid_alter(f"Table {table.path} has used up its column ids.")
    table_rules.check_grown_schema(table.descriptor, schema)
    return replace(table.descriptor, schema=schema)


def _canonical(alteration: Alteration) -> Alteration:
    if alteration.key == table_options.BUCKET_COUNT_ALIAS:
        raise _invalid_alter(f"'{alteration.key}': the number of buckets of a table cannot change.")
    if alteration.key not in table_options.TABLE_OPTIONS.aliases:
        return alteration
    if alteration.op != AlterOp.SET or alteration.value is None:
        return replace(alteration, key=table_options.TABLE_OPTIONS.canonical_key(alteration.key))
    key, value = table_options.TABLE_OPTIONS.canonical(alteration.key, alteration.value)
    return Alteration(key, value, alteration.op)


def _check_alterable(keys: Sequence[str]) -> None:
    rows = table_options.TABLE_OPTIONS.rows
    for key in keys:
        if key in rows and rows[key].dynamic:
            continue
        if key in rows:
            raise _invalid_alter(
                f"The following options are not supported to alter yet: '{key}'. It is decided when a table is created."
            )
        hint = table_options.TABLE_OPTIONS.nearest(key)
        raise _invalid_alter(
            f"'{key[:200]}' is not a recognized Fluss table property in the current cluster version.{hint}"
        )


def _check_fits_table(table: TableInfo, keys: Sequence[str]) -> None:
    descriptor = table.descriptor
    if table_options.KV_STANDBY.key in keys and not descriptor.has_primary_key:
        raise _invalid_alter(f"'{table_options.KV_STANDBY.key}' can only be altered on primary key tables.")
