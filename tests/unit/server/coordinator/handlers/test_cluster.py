"""Cluster options, and the grants there are not."""

from __future__ import annotations

from typing import Any

import pytest
from coordinator_world import World

from lakeward.protocol.api import Api
from lakeward.protocol.messages import acl
from lakeward.protocol.messages import cluster as messages
from lakeward.protocol.messages.shared import PbAlterConfig

SECURITY_DISABLED, CONFIG = 47, 64
SET, DELETE, APPEND, SUBTRACT = range(4)


def alter(*changes: tuple[str, str | None, int]) -> messages.AlterClusterConfigsRequest:
    """A request to change cluster options."""
    return messages.AlterClusterConfigsRequest(
        alter_configs=tuple(PbAlterConfig(config_key=k, config_value=v, op_type=op) for k, v, op in changes)
    )


def described(world: World) -> dict[str, tuple[str | None, str]]:
    """Every option a client is told of."""
    answer = world.ask(Api.DESCRIBE_CLUSTER_CONFIGS, messages.DescribeClusterConfigsRequest())
    return {c.config_key: (c.config_value, c.config_source) for c in answer.configs}


def test_what_was_set_is_described_with_its_source() -> None:
    """Defaults are not told; a change while running hides the setting of the start."""
    world = World(default_bucket_number="3", kv_snapshot_interval="1 min")
    world.ask(Api.ALTER_CLUSTER_CONFIGS, alter(("kv.snapshot.interval", "2 min", SET)))
    assert described(world) == {
        "default.bucket.number": ("3", "INITIAL_SERVER_CONFIG"),
        "kv.snapshot.interval": ("2 min", "DYNAMIC_SERVER_CONFIG"),
    }
    world.ask(Api.ALTER_CLUSTER_CONFIGS, alter(("kv.snapshot.interval", None, DELETE)))
    assert described(world)["kv.snapshot.interval"] == ("1 min", "INITIAL_SERVER_CONFIG")


def test_changes_outlive_the_server(world: World) -> None:
    """They are kept in the metadata store."""
    world.ask(Api.ALTER_CLUSTER_CONFIGS, alter(("datalake.format", "iceberg", SET)))
    again = World(store=world.store)
    assert described(again) == {"datalake.format": ("iceberg", "DYNAMIC_SERVER_CONFIG")}
    assert again.create().descriptor.properties["table.datalake.format"] == "iceberg"


def test_an_option_can_be_set_to_nothing() -> None:
    """It is as if the server had been started without it; deleting the change brings the start's value back."""
    world = World(datalake_format="iceberg")
    world.ask(Api.ALTER_CLUSTER_CONFIGS, alter(("datalake.format", None, SET)))
    assert described(world) == {"datalake.format": (None, "DYNAMIC_SERVER_CONFIG")}
    assert "table.datalake.format" not in world.create().descriptor.properties
    again = World(store=world.store, datalake_format="iceberg")
    assert described(again) == {"datalake.format": (None, "DYNAMIC_SERVER_CONFIG")}
    again.ask(Api.ALTER_CLUSTER_CONFIGS, alter(("datalake.format", None, DELETE)))
    assert described(again) == {"datalake.format": ("iceberg", "INITIAL_SERVER_CONFIG")}


@pytest.mark.parametrize(
    "change",
    [
        ("log.segment.file-size", "1mb", SET),
        ("data.dir", None, DELETE),
        ("server.data-disk.write-limit-ratio", "0.0", SET),
        ("server.data-disk.write-limit-ratio", "0.5", SET),
        ("server.data-disk.write-limit-ratio", "1.5", SET),
        ("no.such.option", "1", SET),
        ("kv.snapshot.interval", "soon", SET),
        ("kv.rocksdb.shared-rate-limiter.bytes-per-sec", "soon", SET),
        ("kv.snapshot.interval", "1 min", APPEND),
        ("kv.snapshot.interval", "1 min", 9),
        ("datalake.format", "delta", SET),
        ("datalake.catalog", "x", APPEND),
        ("security.sasl.plain.credentials", "a:1,a:2", SET),
        ("security.sasl.plain.credentials", "nopassword", APPEND),
    ],
)
def test_a_change_that_cannot_be_made_undoes_all(world: World, change: Any) -> None:
    """All or nothing."""
    request = alter(("datalake.warehouse", "x", SET), change)
    assert world.refusal(Api.ALTER_CLUSTER_CONFIGS, request).code.value == CONFIG
    assert described(world) == {}


def test_no_change_is_fine(world: World) -> None:
    """An empty list is a success."""
    world.ask(Api.ALTER_CLUSTER_CONFIGS, alter())


def test_lists_and_maps_grow_and_shrink(world: World) -> None:
    """Appending replaces what is there under the same key; subtracting takes keys."""
    directories = "remote.data.dirs"
    world.ask(Api.ALTER_CLUSTER_CONFIGS, alter((directories, "a,b", SET), (directories, "c", APPEND)))
    world.ask(Api.ALTER_CLUSTER_CONFIGS, alter((directories, "a", SUBTRACT)))
    assert described(world)[directories][0] == "b,c"


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("security.sasl.plain.credentials", "alice:pw"),
        ("security.sasl.enabled.mechanisms", "PLAIN"),
        ("security.protocol.map", "FLUSS:SASL"),
        ("security.sasl.listener.name.client.plain.jaas.config", "alice:pw"),
        ("security.tls.client-auth", "none"),
        ("security.no.such.thing", "alice"),
    ],
)
def test_security_is_not_changed_while_running(world: World, key: str, value: str) -> None:
    """The caller is told so, and not the value; users are changed by `lakeward users`."""
    for op in (SET, APPEND):
        refusal = world.refusal(Api.ALTER_CLUSTER_CONFIGS, alter((key, value, op)))
        assert refusal.code.value == CONFIG
        assert key in refusal.message
        assert "alice" not in refusal.message
    assert described(world) == {}


def test_secrets_are_not_told() -> None:
    """Of what a lake catalog needs, the names on a list are told, without passwords in URLs."""
    world = World()
    hidden = {
        "datalake.iceberg.s3.secret-key": "hush",
        "datalake.iceberg.credential": "hush",
        "datalake.iceberg.x": "hush",
    }
    told = {"datalake.iceberg.warehouse": "s3://bucket/lake", "datalake.iceberg.uri": "http://me:hush@catalog:8181/v1"}
    for key, value in {"datalake.format": "iceberg", **hidden, **told}.items():
        world.ask(Api.ALTER_CLUSTER_CONFIGS, alter((key, value, SET)))
    found = described(world)
    assert "hush" not in str(found)
    assert found["datalake.iceberg.warehouse"][0] == "s3://bucket/lake"
    assert found["datalake.iceberg.uri"][0] == "http://catalog:8181/v1"
    assert "hush" not in str(world.coordinator.catalog._lake_catalog)


def test_passwords_of_users_are_not_told() -> None:
    """What options say of them is hidden as a whole, that of one listener too."""
    own = "security.sasl.listener.name.fluss.plain.jaas.config"
    hidden = {
        "security.sasl.plain.jaas.config": "hush",
        "security.sasl.plain.credentials": "alice:hush",
        "security.users.first": "alice:hush",
        own: "hush",
    }
    settings = {"security.protocol.map": "FLUSS:SASL", **hidden}
    found = described(World(**{key.replace(".", "_"): value for key, value in settings.items()}))
    assert found["security.protocol.map"][0] == "FLUSS:SASL"
    assert {found[key][0] for key in hidden} == {"******"}


def test_there_are_no_grants(world: World) -> None:
    """Without an authorizer all calls about grants say so."""
    any_ = acl.PbAclFilter(resource_type=1, operation_type=1, permission_type=1)
    for api, request in (
        (Api.LIST_ACLS, acl.ListAclsRequest(acl_filter=any_)),
        (Api.CREATE_ACLS, acl.CreateAclsRequest()),
        (Api.DROP_ACLS, acl.DropAclsRequest(acl_filter=(any_,))),
    ):
        assert world.refusal(api, request).code.value == SECURITY_DISABLED
