"""What a table must be to be created or altered. Pure functions; the first rule that is broken is reported."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import tzinfo

from lakeward.errors import ErrorCode
from lakeward.model.data_types import NESTED, TypeRoot, is_hollow
from lakeward.model.schema import SYSTEM_COLUMNS, Schema
from lakeward.model.table import TableDescriptor
from lakeward.options import table as table_options
from lakeward.options.secrets import is_of_secret
from lakeward.options.tiering import check_tiering_properties
from lakeward.server.coordinator.tables.aggregate_rules import check_aggregates
from lakeward.server.coordinator.tables.merge_rules import check_deletes, check_merge_engine
from lakeward.server.coordinator.tables.partition_rules import check_partitions

_AUTO_INCREMENT_TYPES = frozenset({TypeRoot.INTEGER, TypeRoot.BIGINT})
_NOT_STATISTICS_TYPES = NESTED | {TypeRoot.BINARY, TypeRoot.BYTES}
#: This server is the only one that can hold a replica.
LIVE_SERVERS = 1
_ZSTD_LEVELS = range(1, 23)

_invalid_table = ErrorCode.INVALID_TABLE.error
_invalid_config = ErrorCode.INVALID_CONFIG.error


def check_table(descriptor: TableDescriptor, *, bucket_max: int, lake_format: str | None, zone: tzinfo) -> None:
    """Refuse a table that cannot be. Defaults must have been filled in."""
    properties = descriptor.properties
    _check_properties(properties)
    _check_buckets(descriptor, bucket_max)
    _check_keys(descriptor)
    _check_replication(properties)
    _check_formats(descriptor)
    check_merge_engine(descriptor)
    check_deletes(descriptor)
    _check_tiered_log(properties)
    _check_historical(descriptor)
    check_partitions(descriptor, zone)
    check_column_names(descriptor.schema)
    _check_statistics(descriptor)
    _check_lake_format(properties, lake_format)
    if table_options.LAKE_ENABLED.read(properties):
        check_lake_columns(descriptor.schema)
    check_tiering_properties(descriptor.custom_properties)
    check_no_secrets(descriptor.custom_properties)


def check_no_secrets(properties: Iterable[str]) -> None:
    """Refuse secrets among a table's properties: every client is told all of them."""
    secret = next(filter(is_of_secret, properties), None)
    if secret is not None:
        raise _invalid_config(
            f"'{secret[:200]}' sounds like a secret, and everybody who can reach the cluster can read a table's "
            "properties. Set it where it is used: in the settings of the client, of Spark or of the tiering service."
        )


def check_column_names(schema: Schema) -> None:
    """Refuse names that are columns of every table already."""
    reserved = [name for name in schema.names if name in SYSTEM_COLUMNS]
    if reserved:
        raise _invalid_table(
            f"{', '.join(reserved)} cannot be used as column names, because they are reserved system columns in Fluss."
            f" Please use other names for these columns. The reserved system columns are: {', '.join(SYSTEM_COLUMNS)}"
        )


def check_lake_columns(schema: Schema) -> None:
    """Refuse columns that no lake can hold."""
    hollow = [column for column in schema.columns if is_hollow(column.type)]
    if hollow:
        raise _invalid_table(
            f"Column '{hollow[0].name}' is {hollow[0].type}: a ROW without fields cannot be stored in a lake. Give it"
            f" a field, or leave the column out, or set '{table_options.LAKE_ENABLED.key}' to false."
        )


def check_grown_schema(descriptor: TableDescriptor, schema: Schema) -> None:
    """Refuse a new schema of an existing table that breaks a rule for columns."""
    check_column_names(schema)
    if table_options.LAKE_ENABLED.read(descriptor.properties):
        check_lake_columns(schema)
    check_aggregates(schema, aggregating=table_options.MERGE_ENGINE.read(descriptor.properties) == "aggregation")


def _check_properties(properties: Mapping[str, str]) -> None:
    known = table_options.TABLE_OPTIONS
    for key, value in properties.items():
        if key in known.rows:
            known.rows[key].parse(value)
            continue
        hint = known.nearest(key)
        if key.startswith(table_options.PREFIX):
            raise _invalid_config(
                f"'{key[:200]}' is not a recognized Fluss table property in the current cluster version. You may be"
                f" using an older Fluss cluster that does not support this property.{hint}"
            )
        raise _invalid_config(
            f"'{key[:200]}' is not a Fluss table property. Names of your own belong to the custom properties.{hint}"
        )


def _check_buckets(descriptor: TableDescriptor, bucket_max: int) -> None:
    assert descriptor.bucket_count is not None
    if descriptor.bucket_count > bucket_max:
        raise ErrorCode.BUCKET_MAX_NUM.error(
            f"Bucket count {descriptor.bucket_count} exceeds the maximum limit {bucket_max} for a non-partitioned"
            " table or partition."
        )
    if len(set(descriptor.bucket_keys)) != len(descriptor.bucket_keys):
        raise _invalid_table(f"A bucket key is named twice: {', '.join(descriptor.bucket_keys)}.")
    _refuse_nested(descriptor.schema, descriptor.bucket_keys, "Bucket")


def _check_keys(descriptor: TableDescriptor) -> None:
    schema = descriptor.schema
    _refuse_nested(schema, schema.primary_key, "Primary")
    if not schema.auto_increment:
        return
    if len(schema.auto_increment) > 1:
        raise _invalid_table("A table can have one auto increment column only.")
    column = schema.column(schema.auto_increment[0])
    if not schema.primary_key or column.name in schema.primary_key:
        raise _invalid_table(
            f"The auto increment column '{column.name}' must belong to a primary key table, outside its key."
        )
    if column.type.root not in _AUTO_INCREMENT_TYPES:
        raise _invalid_table(f"The auto increment column '{column.name}' must be INT or BIGINT, not {column.type}.")


def _refuse_nested(schema: Schema, keys: tuple[str, ...], which: str) -> None:
    for key in keys:
        type_ = schema.column(key).type
        if type_.root in NESTED:
            raise _invalid_table(
                f"{which} key column '{key}' has unsupported data type {type_}. Currently, {which.lower()} key column"
                " does not support types: [ARRAY, MAP, ROW]."
            )


def _check_replication(properties: Mapping[str, str]) -> None:
    factor = table_options.REPLICATION_FACTOR.read(properties)
    if factor is None or factor <= 0:
        raise _invalid_config(f"'{table_options.REPLICATION_FACTOR.key}' must be greater than 0.")


def check_servers(properties: Mapping[str, str]) -> None:
    """Refuse more replicas than there are servers to hold them."""
    factor = table_options.REPLICATION_FACTOR.read(properties) or 0
    if factor > LIVE_SERVERS:
        raise ErrorCode.INVALID_REPLICATION_FACTOR.error(
            f"Replication factor: {factor} larger than available tablet servers: {LIVE_SERVERS}."
        )


def _check_formats(descriptor: TableDescriptor) -> None:
    log_format = table_options.LOG_FORMAT.read(descriptor.properties)
    kv_format = table_options.KV_FORMAT.read(descriptor.properties)
    if descriptor.has_primary_key and kv_format == "COMPACTED" and log_format == "INDEXED":
        raise _invalid_config(
            "Currently, Primary Key Table supports ARROW or COMPACTED log format when kv format is COMPACTED."
        )
    level = table_options.LOG_ZSTD_LEVEL.read(descriptor.properties)
    if level not in _ZSTD_LEVELS:
        raise _invalid_config(f"Invalid ZSTD compression level: {level}. Expected a value between 1 and 22.")


def _check_tiered_log(properties: Mapping[str, str]) -> None:
    if table_options.LOG_LOCAL_SEGMENTS.read(properties) <= 0:
        raise _invalid_config(f"'{table_options.LOG_LOCAL_SEGMENTS.key}' must be greater than 0.")
    local_ttl_ms = table_options.LOG_LOCAL_TTL.read(properties)
    ttl_ms = table_options.LOG_TTL.read(properties)
    if local_ttl_ms and ttl_ms and local_ttl_ms > ttl_ms:
        raise _invalid_config(
            f"'{table_options.LOG_LOCAL_TTL.key}' must be less than or equal to '{table_options.LOG_TTL.key}'."
        )


def _check_historical(descriptor: TableDescriptor) -> None:
    properties = descriptor.properties
    if not table_options.LAKE_HISTORICAL.read(properties):
        return
    needs = {
        f"'{table_options.AUTO_PARTITION.key}' must be true": table_options.AUTO_PARTITION.read(properties),
        f"'{table_options.LAKE_ENABLED.key}' must be true": table_options.LAKE_ENABLED.read(properties),
        f"'{table_options.LAKE_FORMAT.key}' must be paimon": table_options.LAKE_FORMAT.read(properties) == "paimon",
        "the table must define a primary key": descriptor.has_primary_key,
        "the table must define exactly one partition key": len(descriptor.partition_keys) == 1,
    }
    unmet = [need for need, met in needs.items() if not met]
    if unmet:
        raise _invalid_config(f"'{table_options.LAKE_HISTORICAL.key}' has unmet requirements: {'; '.join(unmet)}.")


def _check_statistics(descriptor: TableDescriptor) -> None:
    columns = table_options.statistics_columns(descriptor.properties)
    if columns is None:
        return
    key = table_options.STATISTICS_COLUMNS.key
    if descriptor.has_primary_key:
        raise _invalid_config(f"Statistics columns are not supported for primary key tables; remove '{key}'.")
    if columns == ("*",):
        return
    if not columns:
        raise _invalid_config(f"'{key}' names no column; use '*' for all, or leave it out for none.")
    for name in columns:
        if name not in descriptor.schema.positions:
            raise _invalid_config(f"Column '{name}' in '{key}' does not exist in the table.")
        type_ = descriptor.schema.column(name).type
        if type_.root in _NOT_STATISTICS_TYPES:
            raise _invalid_config(
                f"Column '{name}' of type '{type_}' is not supported for statistics collection. Remove it from '{key}'."
            )


def _check_lake_format(properties: Mapping[str, str], lake_format: str | None) -> None:
    own = table_options.LAKE_FORMAT.read(properties)
    if lake_format is None or own is None or not table_options.LAKE_ENABLED.read(properties):
        return
    if own != lake_format:
        raise _invalid_config(
            f"'{table_options.LAKE_FORMAT.key}' ('{own}') must match cluster 'datalake.format' ('{lake_format}')"
            f" when '{table_options.LAKE_ENABLED.key}' is true."
        )
