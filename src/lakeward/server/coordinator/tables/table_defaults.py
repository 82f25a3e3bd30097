"""What the server fills in where a new table says nothing."""

from __future__ import annotations

from dataclasses import replace

from lakeward.errors import ErrorCode, InvalidError
from lakeward.model.table import TableDescriptor
from lakeward.options import server as server_options
from lakeward.options import table as table_options
from lakeward.options.server_options import ServerOptions
from lakeward.records.key.key_encoding import bucket_key_encoding, key_encoder
from lakeward.server.catalog.lake_settings import may_be_tiered

KV_FORMAT_VERSION = 2


def with_canonical_names(descriptor: TableDescriptor) -> TableDescriptor:
    """Properties under their canonical names, whatever names they came under."""
    canonical = table_options.canonical_properties(descriptor.properties, descriptor.custom_properties)
    bucket_count = descriptor.bucket_count
    if canonical.bucket_count is not None:
        if bucket_count not in {None, canonical.bucket_count}:
            raise ErrorCode.INVALID_CONFIG.error(
                f"'{table_options.BUCKET_COUNT_ALIAS}' asks for {canonical.bucket_count} buckets,"
                f" the descriptor for {bucket_count}."
            )
        bucket_count = canonical.bucket_count
    return replace(
        descriptor, properties=canonical.properties, custom_properties=canonical.custom, bucket_count=bucket_count
    )


def with_defaults(descriptor: TableDescriptor, options: ServerOptions) -> TableDescriptor:
    """The descriptor as it will be stored, every default that the server decides written out."""
    properties = dict(descriptor.properties)

    def default(key: str, value: str) -> None:
        properties.setdefault(key, value)

    default(table_options.REPLICATION_FACTOR.key, str(options.get(server_options.DEFAULT_REPLICATION_FACTOR)))
    if len(descriptor.partition_keys) > 1 and table_options.AUTO_PARTITION.read(properties):
        default(table_options.AUTO_PARTITION_PRECREATE.key, "0")
    lake_format = options.get(server_options.DATALAKE_FORMAT)
    if lake_format is not None and _keys_fit(descriptor, lake_format):
        default(table_options.LAKE_FORMAT.key, lake_format)
    if table_options.LAKE_ENABLED.read(properties) and not may_be_tiered(options):
        raise ErrorCode.INVALID_TABLE.error(
            f"'{table_options.LAKE_ENABLED.key}' cannot be true: '{server_options.DATALAKE_ENABLED.key}' of the cluster"
            f" is false."
        )
    if descriptor.has_primary_key:
        if table_options.MERGE_ENGINE.read(properties) is not None:
            default(table_options.DELETE_BEHAVIOR.key, "IGNORE")
        default(table_options.KV_FORMAT_VERSION.key, str(KV_FORMAT_VERSION))
        default(table_options.KV_STANDBY.key, "true")
        if (table_options.KV_FORMAT_VERSION.read(properties) or 0) > KV_FORMAT_VERSION:
            raise ErrorCode.INVALID_CONFIG.error(
                f"'{table_options.KV_FORMAT_VERSION.key}' can be at most {KV_FORMAT_VERSION}."
            )
    bucket_count = descriptor.bucket_count or options.get(server_options.DEFAULT_BUCKET_NUMBER)
    return replace(descriptor, properties=properties, bucket_count=bucket_count)


def _keys_fit(descriptor: TableDescriptor, lake_format: str) -> bool:
    """Whether keys can be written as that lake wants them: in Iceberg, one column, and not of every type.

    A table whose keys cannot is not marked with the format. Then every client writes them as Fluss does without a lake,
    and a lake has the rows by the bucket they are in.
    """
    keys = descriptor.bucket_keys or descriptor.physical_primary_key
    if not keys:
        return True
    try:
        key_encoder(bucket_key_encoding(lake_format), tuple(descriptor.schema.column(key).type for key in keys))
    except InvalidError:
        return False
    return True
