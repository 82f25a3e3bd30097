"""Create, alter, list and drop: databases, tables, cluster options."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

from lakeward.client.cluster.cluster import Cluster, pb_path
from lakeward.client.forms.results import ClusterOption, DatabaseInfo, ServerInfo
from lakeward.client.forms.schema_forms import columns_of, names_of, schema_of
from lakeward.errors import ErrorCode, LakewardError
from lakeward.model import json_form
from lakeward.model.json_form import DatabaseDescriptor
from lakeward.model.schema import Schema
from lakeward.model.table import TableDescriptor, TableInfo, TablePath
from lakeward.protocol.api import Api
from lakeward.protocol.messages import cluster as cluster_messages
from lakeward.protocol.messages import database as database_messages
from lakeward.protocol.messages import table as table_messages
from lakeward.protocol.messages.shared import PbAlterConfig

_SET, _DELETE = 0, 1
_POSITION_LAST = 0
#: Descriptions of tables that are taken apart once: queries ask for them again and again.
_SEEN_TABLES_MAX = 256


class Admin:
    """The calls of a connection that read or change what exists, not what is in it."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster

    # -- databases ----------------------------------------------------------------------------------------------------

    async def databases(self) -> list[str]:
        """The names of all databases, sorted."""
        answer = await self._cluster.ask(Api.LIST_DATABASES, database_messages.ListDatabasesRequest())
        return sorted(answer.database_name)

    async def database(self, name: str) -> DatabaseInfo:
        """What is known of a database."""
        ask = database_messages.GetDatabaseInfoRequest(database_name=name)
        answer = await self._cluster.ask(Api.GET_DATABASE_INFO, ask)
        descriptor = json_form.parse_database(answer.database_json)
        return DatabaseInfo(
            name, descriptor.comment, dict(descriptor.custom_properties), answer.created_time, answer.modified_time
        )

    async def create_database(
        self,
        name: str,
        *,
        comment: str | None = None,
        properties: Mapping[str, str] | None = None,
        exist_ok: bool = False,
    ) -> None:
        """Create a database."""
        descriptor = DatabaseDescriptor(comment, _texts(properties))
        ask = database_messages.CreateDatabaseRequest(
            database_name=name,
            ignore_if_exists=exist_ok,
            database_json=json_form.dump(json_form.database_to_json(descriptor)),
        )
        await self._cluster.ask(Api.CREATE_DATABASE, ask)

    async def drop_database(self, name: str, *, cascade: bool = False, missing_ok: bool = False) -> None:
        """Drop a database; with `cascade` its tables too."""
        ask = database_messages.DropDatabaseRequest(
            database_name=name, ignore_if_not_exists=missing_ok, cascade=cascade
        )
        await self._cluster.ask(Api.DROP_DATABASE, ask)

    # -- tables -------------------------------------------------------------------------------------------------------

    async def tables(self, database: str = "fluss") -> list[str]:
        """The names of all tables of a database, sorted."""
        answer = await self._cluster.ask(Api.LIST_TABLES, table_messages.ListTablesRequest(database_name=database))
        return sorted(answer.table_name)

    async def has_table(self, path: str | TablePath) -> bool:
        """Whether the table exists."""
        ask = table_messages.TableExistsRequest(table_path=pb_path(path_of(path)))
        answer = await self._cluster.ask(Api.TABLE_EXISTS, ask)
        return bool(answer.exists)

    async def drop_table(self, path: str | TablePath, *, missing_ok: bool = False) -> None:
        """Drop a table and its data."""
        ask = table_messages.DropTableRequest(table_path=pb_path(path_of(path)), ignore_if_not_exists=missing_ok)
        await self._cluster.ask(Api.DROP_TABLE, ask)

    async def alter_table(
        self,
        path: str | TablePath,
        *,
        set: Mapping[str, str] | None = None,  # noqa: A002 - reads as in SQL
        reset: Iterable[str] = (),
        add_columns: Any = None,
    ) -> None:
        """Set or reset properties, or add nullable columns at the end (given like a schema)."""
        table_path = pb_path(path_of(path))
        changes = _changes(set, reset)
        if changes:
            ask = table_messages.AlterTableRequest(
                table_path=table_path, ignore_if_not_exists=False, config_changes=changes
            )
            await self._cluster.ask(Api.ALTER_TABLE, ask)
        if add_columns is not None:  # a request of its own: the protocol refuses both at once
            columns = tuple(
                table_messages.PbAddColumn(
                    column_name=c.name,
                    data_type_json=json_form.dump(json_form.type_to_json(c.type)),
                    comment=c.comment,
                    column_position_type=_POSITION_LAST,
                )
                for c in columns_of(add_columns)
            )
            ask = table_messages.AlterTableRequest(
                table_path=table_path, ignore_if_not_exists=False, add_columns=columns
            )
            await self._cluster.ask(Api.ALTER_TABLE, ask)

    async def _create_table(
        self,
        path: TablePath,
        schema: Any,
        primary_key: Sequence[str] | str | None,
        exist_ok: bool,
        rest: Mapping[str, Any],
    ) -> None:

        descriptor = TableDescriptor(
            schema=schema_of(schema, primary_key),
            partition_keys=names_of(rest["partition_by"]),
            bucket_keys=names_of(rest["bucket_by"]),
            bucket_count=rest["buckets"],
            properties=_texts(rest["properties"]),
            custom_properties=_texts(rest["custom_properties"]),
            comment=rest["comment"],
        ).normalize()
        await self.create_like(path, descriptor, exist_ok=exist_ok)

    async def create_like(self, path: TablePath, descriptor: TableDescriptor, *, exist_ok: bool = False) -> None:
        """Create a table as it is described."""
        ask = table_messages.CreateTableRequest(
            table_path=pb_path(path),
            table_json=json_form.dump(json_form.descriptor_to_json(descriptor)),
            ignore_if_exists=exist_ok,
        )
        await self._cluster.ask(Api.CREATE_TABLE, ask)

    # -- the cluster --------------------------------------------------------------------------------------------------

    async def servers(self) -> list[ServerInfo]:
        """The servers of the cluster, the coordinator first."""
        await self._cluster.metadata.refresh()
        return list(self._cluster.metadata.servers)

    async def cluster_options(self) -> list[ClusterOption]:
        """The options the cluster runs with."""
        ask = cluster_messages.DescribeClusterConfigsRequest()
        answer = await self._cluster.ask(Api.DESCRIBE_CLUSTER_CONFIGS, ask)
        return [ClusterOption(c.config_key, c.config_value, c.config_source) for c in answer.configs]

    async def set_cluster_options(
        self,
        set: Mapping[str, str] | None = None,  # noqa: A002 - reads as in SQL
        reset: Iterable[str] = (),
    ) -> None:
        """Change options of the running cluster, all of them or none."""
        ask = cluster_messages.AlterClusterConfigsRequest(alter_configs=_changes(set, reset))
        await self._cluster.ask(Api.ALTER_CLUSTER_CONFIGS, ask)


async def table_info(cluster: Cluster, path: TablePath) -> TableInfo:
    """Ask what a table looks like now."""
    answer = await cluster.ask(Api.GET_TABLE_INFO, table_messages.GetTableInfoRequest(table_path=pb_path(path)))
    return TableInfo(
        path=path,
        table_id=answer.table_id,
        schema_id=answer.schema_id,
        descriptor=_descriptor(answer.table_json),
        created_ms=answer.created_time,
        modified_ms=answer.modified_time,
    )


def _descriptor(body: bytes) -> TableDescriptor:
    found = _parse(bytes(body))
    return replace(found, properties={**found.properties}, custom_properties={**found.custom_properties})


@lru_cache(maxsize=_SEEN_TABLES_MAX)
def _parse(body: bytes) -> TableDescriptor:
    return json_form.parse_descriptor(body)


async def table_schema(cluster: Cluster, path: TablePath, schema_id: int) -> Schema:
    """Ask what a table looked like under an older, or newer, schema id."""
    ask = table_messages.GetTableSchemaRequest(table_path=pb_path(path), schema_id=schema_id)
    answer = await cluster.ask(Api.GET_TABLE_SCHEMA, ask)
    return json_form.parse_schema(answer.schema_json)


async def known_schema(cluster: Cluster, path: TablePath, schema_id: int) -> Schema | None:
    """The same; None for an id that the cluster does not know, as a damaged batch may claim."""
    try:
        return await table_schema(cluster, path, schema_id)
    except LakewardError as wrong:
        if wrong.code is not ErrorCode.SCHEMA_NOT_EXIST:
            raise
        return None


def path_of(path: str | TablePath) -> TablePath:
    """`db.table`, or `table` in the database `fluss`."""
    return path if isinstance(path, TablePath) else TablePath.parse(path)


def _changes(set_: Mapping[str, str] | None, reset: Iterable[str]) -> tuple[PbAlterConfig, ...]:
    new = [PbAlterConfig(config_key=k, config_value=v, op_type=_SET) for k, v in _texts(set_).items()]
    return (*new, *(PbAlterConfig(config_key=k, op_type=_DELETE) for k in reset))


def _texts(properties: Mapping[str, Any] | None) -> dict[str, str]:
    """Properties as text, True as `true`."""
    return {k: str(v).lower() if isinstance(v, bool) else str(v) for k, v in (properties or {}).items()}
