"""Snapshots, leases, remote log and lake: what is said while there are none."""

from __future__ import annotations

from typing import Any

import pytest
from coordinator_world import World, partition_request, path

from lakeward.protocol.api import Api
from lakeward.protocol.messages import lake
from lakeward.protocol.messages import snapshot as messages

NO_TABLE, NOT_KEYED, UNKNOWN, NO_PARTITION, NOT_PARTITIONED, NO_SNAPSHOT, NO_LAKE = 7, 20, 21, 36, 37, 41, 53


@pytest.fixture
def keyed(world: World) -> World:
    """A primary key table, a partitioned one, and a log table."""
    world.create("pk", key=["id"], count=2)
    world.create("parts", key=["id", "dt"], partitions=["dt"], count=2)
    world.create("log")
    world.ask(Api.CREATE_PARTITION, partition_request("parts", dt="1"))
    return world


def latest(name: str, partition: str | None = None) -> messages.GetLatestKvSnapshotsRequest:
    """A request for the latest snapshots."""
    return messages.GetLatestKvSnapshotsRequest(table_path=path(name), partition_name=partition)


def test_every_bucket_is_told_without_a_snapshot(keyed: World) -> None:
    """Readers then start from the beginning of the log."""
    answer = keyed.ask(Api.GET_LATEST_KV_SNAPSHOTS, latest("pk"))
    assert [(s.bucket_id, s.snapshot_id, s.log_offset) for s in answer.latest_snapshots] == [
        (0, None, None),
        (1, None, None),
    ]
    assert keyed.ask(Api.GET_LATEST_KV_SNAPSHOTS, latest("parts", "1")).partition_id is not None


@pytest.mark.parametrize(
    ("name", "partition", "code"),
    [
        ("nope", None, NO_TABLE),
        ("log", None, NOT_KEYED),
        ("pk", "1", NOT_PARTITIONED),
        ("parts", None, NO_PARTITION),
        ("parts", "2", NO_PARTITION),
    ],
)
def test_snapshots_of_what_has_none(keyed: World, name: str, partition: str | None, code: int) -> None:
    """Each with its code."""
    assert keyed.refusal(Api.GET_LATEST_KV_SNAPSHOTS, latest(name, partition)).code.value == code


def test_there_is_no_snapshot_to_describe(keyed: World) -> None:
    """41, whatever is asked for."""
    request = messages.GetKvSnapshotMetadataRequest(table_id=0, bucket_id=0, snapshot_id=1)
    assert keyed.refusal(Api.GET_KV_SNAPSHOT_METADATA, request).code.value == NO_SNAPSHOT


@pytest.mark.parametrize(
    ("api", "request_"),
    [
        (Api.LIST_KV_SNAPSHOTS, messages.ListKvSnapshotsRequest),
        (Api.LIST_REMOTE_LOG_MANIFESTS, messages.ListRemoteLogManifestsRequest),
    ],
)
def test_lists_are_empty(keyed: World, api: Api, request_: Any) -> None:
    """For tables and partitions that exist; others are told."""
    table_id = keyed.table("parts").table_id
    partition_id = keyed.catalog.partitions_of(table_id)[0].partition_id
    keyed.ask(api, request_(table_id=table_id))
    keyed.ask(api, request_(table_id=table_id, partition_id=partition_id))
    assert keyed.refusal(api, request_(table_id=99)).code.value == NO_TABLE
    assert keyed.refusal(api, request_(table_id=table_id, partition_id=99)).code.value == NO_PARTITION
    other_id = keyed.table("pk").table_id
    assert keyed.refusal(api, request_(table_id=other_id, partition_id=partition_id)).code.value == NO_PARTITION


def test_leases_pin_nothing(keyed: World) -> None:
    """What is asked for is told to be unavailable; letting go always works."""
    bucket = messages.PbKvSnapshotLeaseForBucket(bucket_id=0, snapshot_id=1)

    def lease(table_id: int) -> messages.AcquireKvSnapshotLeaseRequest:
        wanted = messages.PbKvSnapshotLeaseForTable(table_id=table_id, bucket_snapshots=(bucket,))
        return messages.AcquireKvSnapshotLeaseRequest(
            lease_id="l", lease_duration_ms=1000, snapshots_to_lease=(wanted,)
        )

    request = lease(keyed.table("pk").table_id)
    answer = keyed.ask(Api.ACQUIRE_KV_SNAPSHOT_LEASE, request)
    assert answer.unavailable_snapshots == request.snapshots_to_lease
    assert keyed.refusal(Api.ACQUIRE_KV_SNAPSHOT_LEASE, lease(99)).code.value == UNKNOWN
    log_id = keyed.table("log").table_id
    assert keyed.refusal(Api.ACQUIRE_KV_SNAPSHOT_LEASE, lease(log_id)).code.value == NOT_KEYED
    keyed.ask(Api.RELEASE_KV_SNAPSHOT_LEASE, messages.ReleaseKvSnapshotLeaseRequest(lease_id="l"))
    of_log, of_none = (
        messages.ReleaseKvSnapshotLeaseRequest(
            lease_id="l", buckets_to_release=(messages.PbTableBucket(table_id=table_id, bucket_id=0),)
        )
        for table_id in (log_id, 99)
    )
    assert keyed.refusal(Api.RELEASE_KV_SNAPSHOT_LEASE, of_log).code.value == NOT_KEYED
    keyed.ask(Api.RELEASE_KV_SNAPSHOT_LEASE, of_none)
    keyed.ask(Api.DROP_KV_SNAPSHOT_LEASE, messages.DropKvSnapshotLeaseRequest(lease_id="l"))


@pytest.mark.parametrize(("name", "code"), [("nope", NO_TABLE), ("log", NO_LAKE)])
def test_there_is_no_lake_snapshot(keyed: World, name: str, code: int) -> None:
    """53 for a table that was never tiered."""
    request = lake.GetLakeSnapshotRequest(table_path=path(name))
    assert keyed.refusal(Api.GET_LAKE_SNAPSHOT, request).code.value == code
