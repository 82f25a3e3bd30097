"""What clients are told of the lake, and which lake options fit together."""

from __future__ import annotations

import json

import pytest
from coordinator_world import World, alter_request, path

from lakeward.protocol.api import Api
from lakeward.protocol.messages import cluster, metadata, table
from lakeward.protocol.messages.shared import PbAlterConfig

INVALID_TABLE, INVALID_CONFIG, INVALID_ALTER, CONFIG = 15, 39, 56, 64
LAKE = {
    "datalake_format": "iceberg",
    "datalake_iceberg_type": "hadoop",
    "datalake_iceberg_warehouse": "/wh",
    "datalake_iceberg_s3_access__key": "hush",
    "datalake_iceberg_Password": "hush",
}
TIERED = {"table.datalake.enabled": "true"}


def told(world: World, name: str) -> dict[str, str]:
    """The properties of a table as GET_TABLE_INFO and GET_METADATA tell them."""
    info = world.ask(Api.GET_TABLE_INFO, table.GetTableInfoRequest(table_path=path(name))).table_json
    (found,) = world.ask(Api.GET_METADATA, metadata.MetadataRequest(table_path=(path(name),))).table_metadata
    assert found.table_json == info
    properties: dict[str, str] = json.loads(info)["properties"]
    return properties


def alter(world: World, key: str, value: str | None) -> cluster.AlterClusterConfigsRequest:
    """A request to set or reset a cluster option."""
    change = PbAlterConfig(config_key=key, config_value=value, op_type=1 if value is None else 0)
    return cluster.AlterClusterConfigsRequest(alter_configs=(change,))


def test_a_lake_table_tells_where_its_catalog_is() -> None:
    """The options of the cluster's format, without what looks like a secret; other tables tell nothing."""
    world = World(**LAKE)
    world.create("tiered", properties=TIERED)
    world.create("plain")
    lake = {key: value for key, value in told(world, "tiered").items() if key.startswith("table.datalake.")}
    assert lake == {
        "table.datalake.enabled": "true",
        "table.datalake.format": "iceberg",
        "table.datalake.iceberg.type": "hadoop",
        "table.datalake.iceberg.warehouse": "/wh",
    }
    assert "table.datalake.iceberg.warehouse" not in told(world, "plain")
    assert "table.datalake.iceberg.warehouse" not in world.table("tiered").descriptor.properties, "told, not stored"


def test_a_lake_in_a_bucket_is_reached_as_remote_storage_is() -> None:
    """Endpoint, region and style need not be said twice; what the lake says for itself wins, and no key is told."""
    world = World(
        datalake_format="paimon",
        datalake_paimon_warehouse="s3://bucket/lake",
        datalake_paimon_s3_region="eu-north-1",
        datalake_paimon_s3_session__token="hush",
        s3_endpoint="http://127.0.0.1:9000",
        s3_region="us-east-1",
        s3_access__key="hush",
        s3_secret__key="hush",
    )
    world.create("tiered", properties=TIERED)
    prefix = "table.datalake.paimon."
    lake = {key.removeprefix(prefix): value for key, value in told(world, "tiered").items() if key.startswith(prefix)}
    assert lake == {"warehouse": "s3://bucket/lake", "s3.endpoint": "http://127.0.0.1:9000", "s3.region": "eu-north-1"}


def test_clients_hear_of_another_warehouse() -> None:
    """A changed option is told at once, and a table can still be altered."""
    world = World(**LAKE)
    world.create("tiered", properties=TIERED)
    assert told(world, "tiered")["table.datalake.iceberg.warehouse"] == "/wh"
    world.ask(Api.ALTER_CLUSTER_CONFIGS, alter(world, "datalake.iceberg.warehouse", "/elsewhere"))
    world.ask(Api.ALTER_TABLE, alter_request("tiered", **{"table.datalake.freshness": "1 min"}))
    assert told(world, "tiered")["table.datalake.iceberg.warehouse"] == "/elsewhere"


def test_a_cluster_can_refuse_lake_tables() -> None:
    """With `datalake.enabled` false tables get the format, so that they can be tiered later, and no more."""
    world = World(datalake_format="paimon", datalake_enabled="false")
    assert world.create("plain").descriptor.properties["table.datalake.format"] == "paimon"
    assert world.create_code(properties=TIERED) == INVALID_TABLE
    assert world.refusal(Api.ALTER_TABLE, alter_request("plain", **TIERED)).code.value == INVALID_ALTER
    world.ask(Api.ALTER_CLUSTER_CONFIGS, alter(world, "datalake.enabled", "true"))
    world.ask(Api.ALTER_TABLE, alter_request("plain", **TIERED))


@pytest.mark.parametrize(
    ("settings", "key", "value"),
    [
        ({}, "datalake.enabled", "true"),
        (LAKE, "datalake.paimon.warehouse", "/p"),
        (LAKE, "datalake.format", "paimon"),
    ],
)
def test_lake_options_that_do_not_fit_together(settings: dict[str, str], key: str, value: str) -> None:
    """Are refused, and nothing changes."""
    world = World(**settings)
    assert world.refusal(Api.ALTER_CLUSTER_CONFIGS, alter(world, key, value)).code.value == CONFIG
    assert world.coordinator.config.current.texts.get(key) == settings.get(key.replace(".", "_"))


@pytest.mark.parametrize(
    ("key", "value"), [("lakeward.tiering.paused", "perhaps"), ("lakeward.tiering.requested", "now")]
)
def test_wishes_that_cannot_be_read_are_refused(key: str, value: str) -> None:
    """At creation and later."""
    world = World(**LAKE)
    assert world.create_code(custom={key: value}) == INVALID_CONFIG
    world.create()
    assert world.refusal(Api.ALTER_TABLE, alter_request("t", **{key: value})).code.value == INVALID_CONFIG
