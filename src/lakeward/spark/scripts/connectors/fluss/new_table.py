"""A definition → the table that a cluster is asked for. What it cannot have is left out and told, not refused.

Computed columns, metadata columns and the watermark belong to the definition; a cluster stores physical columns.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Self

from lakeward.client.blocking.sync import Connection
from lakeward.errors import ErrorCode, LakewardError
from lakeward.language.statements.table_definition import TableDefinition
from lakeward.model.schema import Column, Schema
from lakeward.model.table import TableDescriptor, TableInfo
from lakeward.options.server import DATALAKE_FORMAT
from lakeward.options.table import (
    AUTO_PARTITION,
    LAKE_FORMAT,
    LAKE_FRESHNESS,
    PREFIX,
    REMOTE_DATA_DIR,
    REPLICATION_FACTOR,
    TABLE_OPTIONS,
)
from lakeward.spark.scripts.connectors.fluss.fluss_options import AUTO_INCREMENT, BUCKET_COUNT, BUCKET_KEY

_AUTO_PARTITION_PREFIX = "table.auto-partition."
_LOG_PREFIX = "log."


@dataclass(frozen=True)
class NewTable:
    """What a cluster is asked for, and what the user should know of it."""

    descriptor: TableDescriptor
    notices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ClusterLimits:
    """What a cluster can give a table."""

    servers: int = 1
    lake_format: str | None = None

    @classmethod
    def of(cls, conn: Connection) -> Self:
        """Ask the cluster."""
        servers = sum(server.role != "coordinator" for server in conn.servers())
        formats = [option.value for option in conn.cluster_options() if option.key == DATALAKE_FORMAT.key]
        return cls(max(1, servers), next(iter(formats), None))


def new_table(
    table: TableDefinition,
    properties: Mapping[str, str],
    limits: ClusterLimits,
    extra: Mapping[str, str] | None = None,
) -> NewTable:
    """The table that a definition describes, on a cluster that can give so much.

    `properties` are those of the table as they were written; `extra` are further custom properties.
    """
    notices: list[str] = []
    own, custom = split_properties(properties, notices)
    _fit_partitions(own, table, notices)
    _fit_replicas(own, limits.servers, notices)
    _fit_lake(own, limits.lake_format, notices)
    columns = [Column(column.name, column.type, comment=column.comment) for column in table.physical]
    if not columns:
        raise ErrorCode.INVALID_TABLE.error(f"Table {table} has no column that could be stored.")
    schema = Schema.of(columns, table.primary_key, AUTO_INCREMENT.read(table.options) or ())
    descriptor = TableDescriptor(
        schema,
        table.partitioned_by,
        bucket_key(table),
        bucket_count(table),
        own,
        {**custom, **(extra or {})},
        table.comment,
    )
    return NewTable(descriptor, tuple(notices))


def bucket_count(table: TableDefinition) -> int | None:
    """As INTO n BUCKETS or 'bucket.num' says it."""
    by_clause = table.distribution.buckets if table.distribution else None
    by_option = BUCKET_COUNT.read(table.options)
    if by_clause is not None and by_option is not None and by_clause != by_option:
        raise _two_ways(table, f"INTO {by_clause} BUCKETS", f"'{BUCKET_COUNT.key}' = '{by_option}'")
    return by_clause if by_option is None else by_option


def bucket_key(table: TableDefinition) -> tuple[str, ...]:
    """As DISTRIBUTED BY or 'bucket.key' says it."""
    by_clause = table.distribution.columns if table.distribution else ()
    by_option = BUCKET_KEY.read(table.options) or ()
    if by_clause and by_option and by_clause != by_option:
        raise _two_ways(
            table, f"DISTRIBUTED BY ({', '.join(by_clause)})", f"'{BUCKET_KEY.key}' = '{','.join(by_option)}'"
        )
    return by_option or by_clause


def _two_ways(table: TableDefinition, clause: str, option: str) -> LakewardError:
    return ErrorCode.INVALID_TABLE.error(f"Table {table} says {clause} and {option}; leave one of them out.")


def split_properties(properties: Mapping[str, str], notices: list[str]) -> tuple[dict[str, str], dict[str, str]]:
    """Those of Fluss under their own names, and those that are only kept."""
    own: dict[str, str] = {}
    custom: dict[str, str] = {}
    for given, text in properties.items():
        key, value = TABLE_OPTIONS.canonical(given, text)
        if key == REMOTE_DATA_DIR.key:
            notices.append(f"'{given}' has no effect: where files go is a setting of the cluster.")
        elif key == LAKE_FRESHNESS.key and given != key and key in properties:
            notices.append(f"'{given}' has no effect beside '{key}'.")
        elif key.startswith(PREFIX):
            if own.setdefault(key, value) != value:
                raise ErrorCode.INVALID_CONFIG.error(f"'{given}' is another name for '{key}', which has another value.")
        elif key.startswith(_LOG_PREFIX):
            notices.append(f"'{given}' has no effect: there is nothing like it here.{TABLE_OPTIONS.nearest(given)}")
        else:
            custom[key] = value
    return own, custom


def _fit_partitions(own: dict[str, str], table: TableDefinition, notices: list[str]) -> None:
    """Without partitions there is nothing that could come and go with the calendar."""
    if table.partitioned_by or not AUTO_PARTITION.read(own):
        return
    for key in [key for key in own if key.startswith(_AUTO_PARTITION_PREFIX)]:
        del own[key]
    notices.append(
        f"'{AUTO_PARTITION.key}' has no effect on a table without partitions; add PARTITIONED BY (…) with the column"
        " that holds the day or hour."
    )


def _fit_replicas(own: dict[str, str], servers: int, notices: list[str]) -> None:
    wanted = REPLICATION_FACTOR.read(own)
    if wanted is not None and wanted > servers:
        own[REPLICATION_FACTOR.key] = str(servers)
        notices.append(
            f"'{REPLICATION_FACTOR.key}' is {wanted}, and the cluster has {_count(servers, 'server')}: there will be"
            f" {_count(servers, 'copy')} of each row."
        )


def _fit_lake(own: dict[str, str], lake_format: str | None, notices: list[str]) -> None:
    wanted = LAKE_FORMAT.read(own)
    if wanted is not None and lake_format is not None and wanted != lake_format:
        own[LAKE_FORMAT.key] = lake_format
        notices.append(
            f"'{LAKE_FORMAT.key}' is {wanted}, and the cluster's lake is {lake_format}: that is where the table goes."
        )


def _count(number: int, noun: str) -> str:
    if number == 1:
        return f"one {noun}"
    return f"{number} {'copies' if noun == 'copy' else noun + 's'}"


def check_same(table: TableDefinition, wanted: TableDescriptor, found: TableInfo, name: str) -> None:
    """Refuse a definition that says other than the table that is there; the first difference is named.

    `name` is what the table is called in a script that drops it.
    """
    difference = next(_differences(table, wanted.normalize(), found.descriptor), None)
    if difference is not None:
        raise not_the_same(table, found, difference, name)


def not_the_same(table: TableDefinition, found: TableInfo, difference: str, name: str) -> LakewardError:
    """What to raise where a definition is of another table than the one that is there."""
    return ErrorCode.INVALID_TABLE.error(
        f"Table {found.path} is there already, and not as {table} says: {difference}. Give the definition another name"
        f" with 'table.name', say what the table is, or drop it: DROP TABLE {name}."
    )


def _differences(table: TableDefinition, wanted: TableDescriptor, there: TableDescriptor) -> Iterator[str]:
    for number, (own, other) in enumerate(zip(wanted.schema.columns, there.schema.columns, strict=False), start=1):
        if own.name != other.name:
            yield f"its column {number} is {other.name}, not {own.name}"
        if str(own.type) != str(other.type):
            yield f"its column {own.name} is {other.type}, not {own.type}"
    more, less = there.schema.names[len(wanted.schema.names) :], wanted.schema.names[len(there.schema.names) :]
    if more:
        yield f"it has a further column {more[0]}"
    if less:
        yield f"it has no column {less[0]}"
    if wanted.schema.primary_key != there.schema.primary_key:
        yield f"its primary key is {_names(there.schema.primary_key)}, not {_names(wanted.schema.primary_key)}"
    if wanted.partition_keys != there.partition_keys:
        yield f"it is partitioned by {_names(there.partition_keys)}, not {_names(wanted.partition_keys)}"
    if bucket_key(table) and wanted.bucket_keys != there.bucket_keys:
        yield f"its rows are distributed by {_names(there.bucket_keys)}, not {_names(wanted.bucket_keys)}"
    if wanted.bucket_count is not None and wanted.bucket_count != there.bucket_count:
        yield f"it has {_count(there.bucket_count or 0, 'bucket')}, not {wanted.bucket_count}"


def _names(columns: tuple[str, ...]) -> str:
    return f"({', '.join(columns)})" if columns else "nothing"
