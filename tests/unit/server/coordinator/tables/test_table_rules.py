"""What a table must be to be created: each rule, with the code upstream gives."""

from __future__ import annotations

from typing import Any

import pytest
from coordinator_world import World, create_request

from lakeward.protocol.api import Api
from lakeward.server.coordinator.tables.alteration import Alteration, AlterOp

INVALID_TABLE, INVALID_REPLICATION, INVALID_CONFIG, TOO_MANY_BUCKETS = 15, 17, 39, 49
PK: dict[str, Any] = {"key": ["id"]}
AUTO = {"table.auto-partition.enabled": "true"}
VERSIONED = {"table.merge-engine": "versioned"}
VERSION_COLUMN = "table.merge-engine.versioned.ver-column"


def with_(**properties: str) -> dict[str, Any]:
    """A log table with properties; `_` is written for `.` and `__` for `-`."""
    return {"properties": {"table." + k.replace("__", "-").replace("_", "."): v for k, v in properties.items()}}


REFUSED = {
    "too many buckets": ({"count": 5000}, TOO_MANY_BUCKETS),
    "no buckets": ({"count": 0}, INVALID_TABLE),
    "unknown property": (with_(no__such="1"), INVALID_CONFIG),
    "custom name among properties": ({"properties": {"mine": "1"}}, INVALID_CONFIG),
    "unreadable duration": (with_(log_ttl="soon"), INVALID_CONFIG),
    "duration without unit": (with_(log_ttl="300"), INVALID_CONFIG),
    "unreadable switch": (with_(datalake_enabled="yes"), INVALID_CONFIG),
    "unknown log format": (with_(log_format="parquet"), INVALID_CONFIG),
    "unknown bucket key": ({"buckets": ["zz"]}, INVALID_TABLE),
    "nested bucket key": ({"buckets": ["tags"]}, INVALID_TABLE),
    "bucket key twice": ({"buckets": ["id", "id"]}, INVALID_TABLE),
    "bucket key is partition key": ({"buckets": ["dt"], "partitions": ["dt"]}, INVALID_TABLE),
    "bucket key outside primary key": ({**PK, "buckets": ["n"]}, INVALID_TABLE),
    "nested primary key": ({"key": ["id", "tags"], "buckets": ["id"]}, INVALID_TABLE),
    "unknown primary key": ({"key": ["zz"]}, INVALID_TABLE),
    "primary key column twice": ({"key": ["id", "id"]}, INVALID_TABLE),
    "primary key is all partition keys": ({"key": ["dt"], "partitions": ["dt"]}, INVALID_TABLE),
    "partition key outside primary key": ({**PK, "partitions": ["dt"]}, INVALID_TABLE),
    "unknown partition key": ({"partitions": ["zz"]}, INVALID_TABLE),
    "decimal partition key": ({"partitions": ["price"]}, INVALID_TABLE),
    "nested partition key": ({"partitions": ["tags"]}, INVALID_TABLE),
    "partition key twice": ({"partitions": ["dt", "dt"]}, INVALID_TABLE),
    "factor zero": (with_(replication_factor="0"), INVALID_CONFIG),
    "factor unreadable": (with_(replication_factor="x"), INVALID_CONFIG),
    "factor above the servers": (with_(replication_factor="9"), INVALID_REPLICATION),
    "indexed log with compacted kv": ({**PK, **with_(log_format="indexed")}, INVALID_CONFIG),
    "zstd level": (with_(log_arrow_compression_zstd_level="23"), INVALID_CONFIG),
    "merge engine on a log table": (with_(merge__engine="first_row"), INVALID_CONFIG),
    "versioned without a column": ({**PK, "properties": VERSIONED}, INVALID_CONFIG),
    "versioned by an unknown column": ({**PK, "properties": {**VERSIONED, VERSION_COLUMN: "zz"}}, INVALID_CONFIG),
    "versioned by a text": ({**PK, "properties": {**VERSIONED, VERSION_COLUMN: "name"}}, INVALID_CONFIG),
    "aggregation without old rows": (
        {**PK, **with_(merge__engine="aggregation", changelog_image="wal")},
        INVALID_CONFIG,
    ),
    "delete behaviour on a log table": (with_(delete_behavior="ignore"), INVALID_CONFIG),
    "first row with deletes": ({**PK, **with_(merge__engine="first_row", delete_behavior="allow")}, INVALID_CONFIG),
    "no local segment": (with_(log_tiered_local__segments="0"), INVALID_CONFIG),
    "local ttl above ttl": (with_(log_ttl="1 d", log_local__ttl="2 d"), INVALID_CONFIG),
    "kv format of the future": ({**PK, **with_(kv_format__version="3")}, INVALID_CONFIG),
    "unknown lake": (with_(datalake_format="delta"), INVALID_CONFIG),
    "history without requirements": (with_(datalake_historical__partition_enabled="true"), INVALID_CONFIG),
    "auto partition without partitions": ({"properties": AUTO}, INVALID_CONFIG),
    "unknown time unit": ({"partitions": ["dt"], **with_(auto__partition_time__unit="week")}, INVALID_CONFIG),
    "unknown time zone": ({"partitions": ["dt"], **with_(auto__partition_time__zone="X/Y")}, INVALID_CONFIG),
    "bad time format": ({"partitions": ["dt"], **with_(auto__partition_time__format="dd")}, INVALID_TABLE),
    "several keys, none holds the time": ({"partitions": ["dt", "name"], "properties": AUTO}, INVALID_TABLE),
    "the time in no partition key": (
        {"partitions": ["dt", "name"], "properties": {**AUTO, "table.auto-partition.key": "id"}},
        INVALID_TABLE,
    ),
    "several keys created ahead": (
        {
            "partitions": ["dt", "name"],
            "properties": {**AUTO, "table.auto-partition.key": "dt", "table.auto-partition.num-precreate": "1"},
        },
        INVALID_TABLE,
    ),
    "a date key by the default format": ({"partitions": ["day"], "properties": AUTO}, INVALID_TABLE),
    "system column": ({"columns": ["__offset INTEGER"]}, INVALID_TABLE),
    "statistics on a primary key table": ({**PK, **with_(statistics_columns="n")}, INVALID_CONFIG),
    "statistics of no column": (with_(statistics_columns=" , "), INVALID_CONFIG),
    "statistics of an unknown column": (with_(statistics_columns="zz"), INVALID_CONFIG),
    "statistics of a nested column": (with_(statistics_columns="tags"), INVALID_CONFIG),
    "auto increment on a log table": ({"schema": {"auto_increment_column": ["n"]}}, INVALID_TABLE),
    "auto increment in the key": ({**PK, "schema": {"auto_increment_column": ["id"]}}, INVALID_TABLE),
    "auto increment of a text": ({**PK, "schema": {"auto_increment_column": ["name"]}}, INVALID_TABLE),
    "two auto increments": ({**PK, "schema": {"auto_increment_column": ["n", "name"]}}, INVALID_TABLE),
    "unknown auto increment": ({**PK, "schema": {"auto_increment_column": ["zz"]}}, INVALID_TABLE),
}


@pytest.mark.parametrize("what", REFUSED)
def test_a_table_that_breaks_a_rule_is_refused(world: World, what: str) -> None:
    """The code is upstream's, and nothing is left behind."""
    descriptor, code = REFUSED[what]
    assert world.create_code(**descriptor) == code
    assert list(world.catalog.tables()) == []


ACCEPTED: dict[str, dict[str, Any]] = {
    "a log table": {},
    "no bucket count": {"count": None},
    "every column statistics": with_(statistics_columns="*"),
    "some statistics": with_(statistics_columns="id, name"),
    "lower case choices": with_(log_format="indexed", log_arrow_compression_type="lz4_frame"),
    "spaced duration": with_(log_ttl=" 3  Days "),
    "factor to be met by partitions later": {"partitions": ["dt"], **with_(replication_factor="9")},
    "indexed in both": {**PK, **with_(log_format="indexed", kv_format="indexed")},
    "versioned": {**PK, "properties": {**VERSIONED, VERSION_COLUMN: "n"}},
    "aggregation with deletes": {**PK, **with_(merge__engine="aggregation", delete_behavior="allow")},
    "auto increment": {**PK, "schema": {"auto_increment_column": ["n"]}},
    "a ttl of zero is for ever": with_(log_ttl="0 ms", log_local__ttl="5 d"),
    "a date key by its own format": {
        "partitions": ["day"],
        "properties": {**AUTO, "table.auto-partition.time-format": "yyyy-MM-dd"},
    },
    "several keys": {"partitions": ["dt", "name"], "properties": {**AUTO, "table.auto-partition.key": "dt"}},
    "a lake format without a lake": with_(datalake_format="iceberg"),
    "partitioned primary key": {"key": ["id", "dt"], "partitions": ["dt"]},
}


@pytest.mark.parametrize("what", ACCEPTED)
def test_a_table_within_the_rules_is_created(world: World, what: str) -> None:
    """What upstream accepts, we accept."""
    assert world.create(**ACCEPTED[what]).schema_id == 1


def test_an_unknown_property_is_told_the_nearest_name(world: World) -> None:
    """A slip of the pen costs one look at the message."""
    refused = world.refusal(Api.CREATE_TABLE, create_request("t", properties={"table.log.tll": "1 d"}))
    assert "'table.log.ttl'" in refused.message
    refused = world.refusal(Api.CREATE_TABLE, create_request("t", properties={"log.retention.hour": "1"}))
    assert "'log.retention.hours'" in refused.message


def test_a_table_must_use_the_lake_of_the_cluster() -> None:
    """A tiered table has the cluster's format, and records it."""
    world = World(datalake_format="iceberg")
    assert world.create("a").descriptor.properties["table.datalake.format"] == "iceberg"
    tiered = {"table.datalake.enabled": "true"}
    assert world.create("b", properties=tiered).descriptor.properties["table.datalake.format"] == "iceberg"
    assert world.create_code(properties={**tiered, "table.datalake.format": "paimon"}) == INVALID_CONFIG


def test_kinds_of_tables_may_be_forbidden() -> None:
    """allow.create.* decide, before anything else is looked at."""
    logs_only = World(allow_create_kv_tables="false")
    assert logs_only.create_code(**PK) == INVALID_TABLE
    logs_only.create()
    keys_only = World(allow_create_log_tables="false")
    assert keys_only.create_code() == INVALID_TABLE
    keys_only.create(**PK)


def test_a_table_may_name_its_own_lake_where_the_cluster_names_none(world: World) -> None:
    """So a plain server takes lake tables, also without any; `datalake.enabled=false` still forbids them."""
    plain = world.create("c", properties={"table.datalake.enabled": "true"})
    assert "table.datalake.format" not in plain.descriptor.properties
    own = {"table.datalake.enabled": "true", "table.datalake.format": "paimon"}
    assert world.create("a", properties=own).descriptor.properties["table.datalake.format"] == "paimon"
    later = world.create("b", properties={"table.datalake.format": "iceberg"})
    enabled = Alteration("table.datalake.enabled", "true", AlterOp.SET)
    world.coordinator.tables.alter_properties(later.path, [enabled])
    assert world.table("b").descriptor.properties["table.datalake.enabled"] == "true"
    assert World(datalake_enabled="false").create_code(properties=own) == INVALID_TABLE
