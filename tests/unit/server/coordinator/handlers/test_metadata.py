"""What a client asks before it reads or writes."""

from __future__ import annotations

import json
from typing import Any

import pytest
from coordinator_world import CALLER, World, alter_request, partition_request, path

from lakeward.protocol.api import Api
from lakeward.protocol.messages import log as log_messages
from lakeward.protocol.messages import metadata as messages

NO_TABLE, NO_PARTITION = 7, 36


def physical(name: str, partition: str | None) -> messages.PbPhysicalTablePath:
    """A partition's full name on the wire."""
    return messages.PbPhysicalTablePath(database_name="fluss", table_name=name, partition_name=partition)


def ask(world: World, **asked: Any) -> Any:
    """Ask for metadata."""
    return world.ask(Api.GET_METADATA, messages.MetadataRequest(**asked))


def test_an_empty_request_is_told_the_servers(world: World) -> None:
    """Both roles at the address the caller came in on, and nothing else."""
    answer = ask(world)
    node = messages.PbServerNode(node_id=0, host=CALLER.door.host, port=CALLER.door.port)
    assert answer == messages.MetadataResponse(coordinator_server=node, tablet_servers=(node,))


def test_a_table_is_told_with_its_leaders(world: World) -> None:
    """Every bucket has its leader at once, among the servers that are told."""
    table = world.create(count=3)
    answer = ask(world, table_path=(path(), path()))
    (told,) = answer.table_metadata
    assert (told.table_id, told.schema_id) == (table.table_id, 1)
    assert json.loads(told.table_json)["bucket_count"] == 3
    assert [(b.bucket_id, b.leader_id, b.replica_id, b.leader_epoch) for b in told.bucket_metadata] == [
        (bucket, 0, (0,), 0) for bucket in range(3)
    ]
    assert told.remote_data_dir


def test_a_partitioned_table_has_its_leaders_in_partitions(world: World) -> None:
    """The table itself has none; partitions are found by name and id, each told once."""
    world.create(partitions=["dt"], count=2)
    world.ask(Api.CREATE_PARTITION, partition_request(dt="1"))
    partition = world.catalog.partitions_of(world.table().table_id)[0]
    answer = ask(
        world,
        table_path=(path(),),
        partitions_path=(physical("t", "1"),),
        partitions_id=(partition.partition_id,),
    )
    assert answer.table_metadata[0].bucket_metadata == ()
    (told,) = answer.partition_metadata
    assert (told.table_id, told.partition_name, told.partition_id) == (
        partition.table_id,
        "1",
        partition.partition_id,
    )
    assert len(told.bucket_metadata) == 2


@pytest.mark.parametrize(
    ("asked", "code"),
    [
        ({"table_path": (path("nope"),)}, NO_TABLE),
        ({"partitions_path": (physical("t", "nope"),)}, NO_PARTITION),
        ({"partitions_path": (physical("nope", "1"),)}, NO_PARTITION),
        ({"partitions_id": (99,)}, NO_PARTITION),
        ({"partitions_id": (-1,)}, NO_PARTITION),
    ],
)
def test_what_is_not_there_fails_the_whole_request(world: World, asked: dict[str, Any], code: int) -> None:
    """The caller learns what to forget."""
    world.create(partitions=["dt"])
    assert world.refusal(Api.GET_METADATA, messages.MetadataRequest(**asked)).code.value == code


def test_a_partition_without_a_name_is_passed_over(world: World) -> None:
    """Clients ask so for tables without partitions."""
    world.create()
    assert ask(world, partitions_path=(physical("t", None),)).partition_metadata == ()


def test_metadata_is_fresh_after_a_change(world: World) -> None:
    """The cached descriptor follows the table."""
    world.create()
    ask(world, table_path=(path(),))
    world.ask(Api.ALTER_TABLE, alter_request(mine="x"))
    told = ask(world, table_path=(path(),)).table_metadata[0]
    assert json.loads(told.table_json)["custom_properties"] == {"mine": "x"}


def test_a_table_may_name_its_own_remote_directory(world: World) -> None:
    """The alias of older guides is stored for the table."""
    world.create(custom={"remote.data.dir": "s3://bucket/dir"})
    assert ask(world, table_path=(path(),)).table_metadata[0].remote_data_dir == "s3://bucket/dir"


def test_every_writer_gets_its_own_id(world: World) -> None:
    """Even for tables that are not there: nothing else is recorded."""
    request = log_messages.InitWriterRequest(table_path=(path("nope"),))
    ids = [world.ask(Api.INIT_WRITER, request).writer_id for _ in range(2500)]
    assert len(set(ids)) == 2500


def test_health_counts_every_bucket(world: World) -> None:
    """An empty cluster is green, and so is a full one."""
    health = world.ask(Api.GET_CLUSTER_HEALTH, messages.GetClusterHealthRequest())
    assert (health.num_replicas, health.status) == (0, 0)
    world.create("a", count=3)
    world.create("b", count=2, partitions=["dt"])
    for day in ("1", "2"):
        world.ask(Api.CREATE_PARTITION, partition_request("b", dt=day))
    health = world.ask(Api.GET_CLUSTER_HEALTH, messages.GetClusterHealthRequest())
    assert (health.num_replicas, health.in_sync_replicas, health.active_leader_replicas) == (7, 7, 7)
    assert health.status == 0
