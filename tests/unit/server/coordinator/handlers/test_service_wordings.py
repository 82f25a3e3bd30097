"""Texts of refusals that clients of Apache Fluss look for: whoever searches for one finds it in ours too."""

from __future__ import annotations

from typing import Any

import pytest
from coordinator_world import World, alter_request, create_request, partition_request, path, spec

from lakeward.protocol.api import Api
from lakeward.protocol.messages import database as database_messages
from lakeward.protocol.messages import partition as partition_messages
from lakeward.protocol.messages import table as table_messages
from lakeward.protocol.messages.cluster import AlterClusterConfigsRequest
from lakeward.protocol.messages.metadata import MetadataRequest
from lakeward.protocol.messages.shared import PbAlterConfig

PK: dict[str, Any] = {"key": ["id"]}
AUTO = {"table.auto-partition.enabled": "true", "table.auto-partition.time-unit": "MONTH"}
TWO = {"partitions": ["dt", "name"]}


def with_(**properties: str) -> dict[str, str]:
    """Properties of a table, `_` for a dot and `__` for a dash."""
    return {"table." + key.replace("__", "-").replace("_", "."): value for key, value in properties.items()}


NEW_TABLES: dict[str, dict[str, Any]] = {
    "'connector' is not a Fluss table property.": {"properties": {"connector": "fluss"}},
    "'table.unknown.option' is not a recognized Fluss table property in the current cluster version. You may be using"
    " an older Fluss cluster that does not support this property.": {"properties": {"table.unknown.option": "1"}},
    "Invalid value for config 'table.log.ttl'. Reason: Could not parse value 'unknown' for key 'table.log.ttl'.": {
        "properties": with_(log_ttl="unknown")
    },
    "Table with 'FIRST_ROW' merge engine does not support delete operations. The 'table.delete.behavior' config must be"
    " set to 'ignore' or 'disable', but got 'allow'.": {
        **PK,
        "properties": {"table.merge-engine": "first_row", "table.delete.behavior": "allow"},
    },
    "The version column 'name' for versioned merge engine must be one type of [INT, BIGINT, TIMESTAMP, TIMESTAMP_LTZ],"
    " but got STRING.": {
        **PK,
        "properties": {"table.merge-engine": "versioned", "table.merge-engine.versioned.ver-column": "name"},
    },
    "does not support 'WAL' changelog image mode.": {
        **PK,
        "properties": {"table.merge-engine": "aggregation", "table.changelog.image": "WAL"},
    },
    "Currently, Primary Key Table supports ARROW or COMPACTED log format when kv format is COMPACTED.": {
        **PK,
        "properties": with_(log_format="INDEXED"),
    },
    "The table descriptor cannot be read: bucket_count must be between 1 and 2147483647, not 0.": {"count": 0},
    "__offset, __bucket cannot be used as column names, because they are reserved system columns in Fluss. Please use"
    " other names for these columns. The reserved system columns are: __offset, __timestamp, __bucket": {
        "columns": ["__offset BIGINT", "__bucket BIGINT"]
    },
    "must contain fields [year, month] in this order": {
        "partitions": ["dt"],
        "properties": {**AUTO, "table.auto-partition.time-format": "MM-yyyy"},
    },
    "Currently, auto partition is only supported for partitioned table, please set table property"
    " 'table.auto-partition.enabled' to false.": {"properties": AUTO},
    "Currently, auto partitioned table must set one auto partition key when it has multiple partition keys. Please set"
    " table property 'table.auto-partition.key'.": {**TWO, "properties": AUTO},
    "The specified key for auto partitioned table is not a partition key. Your key 'n' is not in key list [dt, name]": {
        **TWO,
        "properties": {**AUTO, "table.auto-partition.key": "n"},
    },
    "Primary key column 'tags' has unsupported data type ARRAY<INT> NOT NULL. Currently, primary key column does not"
    " support types: [ARRAY, MAP, ROW].": {"key": ["id", "tags"], "partitions": ["tags"]},
    "Statistics columns are not supported for primary key tables": {**PK, "properties": with_(statistics_columns="*")},
    "Column 'tags' of type 'ARRAY<INT>' is not supported for statistics collection.": {
        "properties": with_(statistics_columns="tags")
    },
}


@pytest.mark.parametrize("text", NEW_TABLES)
def test_a_table_that_cannot_be_is_refused_in_known_words(text: str) -> None:
    """Some look for the whole of it, so what we say more comes after."""
    assert text in World().refusal(Api.CREATE_TABLE, create_request("t", **NEW_TABLES[text])).message


@pytest.mark.parametrize(
    ("text", "api", "request_"),
    [
        (
            "The following options are not supported to alter yet: 'table.kv.format'.",
            Api.ALTER_TABLE,
            alter_request(**{"table.kv.format": "indexed"}),
        ),
        (
            "Not support rename column now.",
            Api.ALTER_TABLE,
            table_messages.AlterTableRequest(
                table_path=path(),
                ignore_if_not_exists=False,
                rename_columns=(table_messages.PbRenameColumn(old_column_name="name", new_column_name="x"),),
            ),
        ),
        (
            "__18 is invalid: '__' is not allowed as prefix, since it is reserved for internal databases/internal",
            Api.CREATE_PARTITION,
            partition_request(dt="__18"),
        ),
        (
            "PartitionSpec PartitionSpec{{name=10}} does not contain partition key 'dt' for partitioned table fluss.t.",
            Api.CREATE_PARTITION,
            partition_messages.CreatePartitionRequest(
                table_path=path(), partition_spec=spec(name="10"), ignore_if_not_exists=False
            ),
        ),
        (
            "table don't contains this partitionKey: name",
            Api.LIST_PARTITION_INFOS,
            partition_messages.ListPartitionInfosRequest(table_path=path(), partial_partition_spec=spec(name="1")),
        ),
        ("The partition id '100' does not exist", Api.GET_METADATA, MetadataRequest(partitions_id=(100,))),
        (
            "Database nowhere not exists.",
            Api.ALTER_DATABASE,
            database_messages.AlterDatabaseRequest(database_name="nowhere", ignore_if_not_exists=False),
        ),
        (
            "The config key no.such.key is not allowed to be changed dynamically",
            Api.ALTER_CLUSTER_CONFIGS,
            AlterClusterConfigsRequest(
                alter_configs=(PbAlterConfig(config_key="no.such.key", config_value="1", op_type=0),)
            ),
        ),
        (
            "Invalid disk write-limit configuration",
            Api.ALTER_CLUSTER_CONFIGS,
            AlterClusterConfigsRequest(
                alter_configs=(
                    PbAlterConfig(config_key="server.data-disk.write-limit-ratio", config_value="1.5", op_type=0),
                )
            ),
        ),
    ],
)
def test_a_change_that_cannot_be_is_refused_in_known_words(text: str, api: Api, request_: Any) -> None:
    """Of a table with one partition key, its partitions, a database and the cluster."""
    world = World()
    world.create(partitions=["dt"])
    assert text in world.refusal(api, request_).message


def test_the_limit_of_partitions_is_told_in_known_words() -> None:
    """With the number, and what to do."""
    world = World(max_partition_num="1")
    world.create(partitions=["dt"])
    world.ask(Api.CREATE_PARTITION, partition_request(dt="1"))
    refused = world.refusal(Api.CREATE_PARTITION, partition_request(dt="2"))
    assert "Exceed the maximum number of partitions for table fluss.t, only allow 1 partitions." in refused.message
