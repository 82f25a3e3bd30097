"""Partitions through the wire's own forms."""

from __future__ import annotations

from typing import Any

import pytest
from coordinator_world import World, partition_request, path, spec

from lakeward.protocol.api import Api
from lakeward.protocol.messages import partition as messages
from lakeward.server.catalog.events import PartitionDropped

NO_TABLE, FACTOR, NO_PARTITION, NOT_PARTITIONED, THERE, INVALID, TOO_MANY = 7, 17, 36, 37, 42, 43, 45
AUTO = {"table.auto-partition.enabled": "true"}


@pytest.fixture
def parts(world: World) -> World:
    """A table partitioned by region and day, and one that is not partitioned."""
    world.create(columns=["id INTEGER", "region STRING", "dt STRING"], partitions=["region", "dt"], count=2)
    world.create("plain")
    return world


def drop(name: str = "t", *, ignore: bool = False, **values: str) -> messages.DropPartitionRequest:
    """A request to drop a partition."""
    return messages.DropPartitionRequest(
        table_path=path(name), partition_spec=spec(**values), ignore_if_not_exists=ignore
    )


def listed(world: World, **values: str) -> list[dict[str, str]]:
    """The partitions a client is told of, as key and value in order."""
    request = messages.ListPartitionInfosRequest(table_path=path(), partial_partition_spec=spec(**values))
    answer = world.ask(Api.LIST_PARTITION_INFOS, request)
    return [{pair.key: pair.value for pair in p.partition_spec.partition_key_values} for p in answer.partitions_info]


def code(world: World, api: Api, request: Any) -> int:
    """The code of a refusal."""
    return int(world.refusal(api, request).code.value)


def test_the_life_of_a_partition(parts: World) -> None:
    """Created with keys in any order, listed in the table's order, dropped with its buckets told."""
    parts.ask(Api.CREATE_PARTITION, partition_request(dt="20261115", region="eu"))
    assert parts.partitions() == ["eu$20261115"]
    assert list(listed(parts)[0].items()) == [("region", "eu"), ("dt", "20261115")]
    partition = parts.catalog.partition_by_name(parts.table().table_id, "eu$20261115")
    parts.ask(Api.DROP_PARTITION, drop(region="eu", dt="20261115"))
    assert parts.partitions() == []
    dropped = parts.events[-1]
    assert isinstance(dropped, PartitionDropped)
    assert partition is not None
    assert [(b.partition_id, b.bucket) for b in dropped.buckets] == [
        (partition.partition_id, 0),
        (partition.partition_id, 1),
    ]


def test_partition_ids_are_never_reused(parts: World) -> None:
    """A partition made again has an id nobody had."""
    seen = set()
    for _ in range(3):
        parts.ask(Api.CREATE_PARTITION, partition_request(region="eu", dt="1"))
        seen.add(parts.catalog.partitions_of(parts.table().table_id)[0].partition_id)
        parts.ask(Api.DROP_PARTITION, drop(region="eu", dt="1"))
    assert len(seen) == 3


def test_flags_make_repetition_harmless(parts: World) -> None:
    """The misnamed flag of creation means ignore if it exists."""
    parts.ask(Api.CREATE_PARTITION, partition_request(region="eu", dt="1"))
    assert code(parts, Api.CREATE_PARTITION, partition_request(region="eu", dt="1")) == THERE
    parts.ask(Api.CREATE_PARTITION, partition_request(region="eu", dt="1", ignore=True))
    assert code(parts, Api.DROP_PARTITION, drop(region="eu", dt="2")) == NO_PARTITION
    parts.ask(Api.DROP_PARTITION, drop(region="eu", dt="2", ignore=True))


@pytest.mark.parametrize("values", [{}, {"dt": "1"}, {"dt": "1", "zz": "2"}, {"dt": "1", "region": "eu", "zz": "2"}])
def test_a_partition_names_exactly_the_keys(parts: World, values: dict[str, str]) -> None:
    """Not one key fewer, more or other."""
    assert code(parts, Api.CREATE_PARTITION, partition_request(**values)) == INVALID
    assert code(parts, Api.DROP_PARTITION, drop(**values)) == INVALID


@pytest.mark.parametrize(
    "value", ["", ".", "..", "a/b", "../../etc", "a$b", "a:b", "a b", "ü", "a" * 201, "a" * 100_000]
)
def test_a_value_is_a_plain_name(parts: World, value: str) -> None:
    """A partition is a directory."""
    refused = parts.refusal(Api.CREATE_PARTITION, partition_request(region=value, dt="1"))
    assert refused.code.value == INVALID
    assert len(refused.message) < 700
    assert code(parts, Api.DROP_PARTITION, drop(region=value, dt="1")) == INVALID


def test_reserved_values_cannot_be_created_but_named(parts: World) -> None:
    """Dropping tolerates the prefix; the historical partition stays."""
    assert code(parts, Api.CREATE_PARTITION, partition_request(region="__x", dt="1")) == INVALID
    assert code(parts, Api.DROP_PARTITION, drop(region="__x", dt="1")) == NO_PARTITION
    assert code(parts, Api.DROP_PARTITION, drop(region="__historical__", dt="1")) == INVALID


@pytest.mark.parametrize(("name", "expected"), [("nope", NO_TABLE), ("plain", NOT_PARTITIONED)])
def test_only_partitioned_tables_have_partitions(parts: World, name: str, expected: int) -> None:
    """All three calls say so."""
    assert code(parts, Api.CREATE_PARTITION, partition_request(name, dt="1")) == expected
    assert code(parts, Api.DROP_PARTITION, drop(name, dt="1")) == expected
    listing = messages.ListPartitionInfosRequest(table_path=path(name))
    assert code(parts, Api.LIST_PARTITION_INFOS, listing) == expected


def test_listing_can_be_narrowed(parts: World) -> None:
    """By any of the keys; a key the table does not have is refused."""
    for region, day in (("eu", "1"), ("eu", "2"), ("us", "1")):
        parts.ask(Api.CREATE_PARTITION, partition_request(region=region, dt=day))
    assert len(listed(parts)) == 3
    assert listed(parts, region="eu") == [{"region": "eu", "dt": "1"}, {"region": "eu", "dt": "2"}]
    assert listed(parts, region="us", dt="1") == [{"region": "us", "dt": "1"}]
    assert listed(parts, dt="9") == []
    narrowed = messages.ListPartitionInfosRequest(table_path=path(), partial_partition_spec=spec(zz="1"))
    assert code(parts, Api.LIST_PARTITION_INFOS, narrowed) == INVALID


@pytest.mark.parametrize(
    ("value", "expected"), [("x", INVALID), ("20241031", INVALID), ("20241104", None), ("20991231", None)]
)
def test_auto_partitioned_tables_take_periods_only(world: World, value: str, expected: int | None) -> None:
    """By hand one may create a period that is kept, past or future."""
    world.create(partitions=["dt"], properties=AUTO)
    if expected is None:
        world.ask(Api.CREATE_PARTITION, partition_request(dt=value))
        assert value in world.partitions()
    else:
        assert code(world, Api.CREATE_PARTITION, partition_request(dt=value)) == expected


def test_a_time_format_is_checked_without_the_calendar(world: World) -> None:
    """Old periods are fine then."""
    world.create(partitions=["dt"], properties={"table.auto-partition.time-format": "yyyy-MM-dd"})
    assert code(world, Api.CREATE_PARTITION, partition_request(dt="19990101")) == INVALID
    world.ask(Api.CREATE_PARTITION, partition_request(dt="1999-01-01"))


def test_limits_hold() -> None:
    """Too many partitions, and more replicas than servers."""
    world = World(max_partition_num="2")
    world.create(partitions=["dt"])
    for day in ("1", "2"):
        world.ask(Api.CREATE_PARTITION, partition_request(dt=day))
    assert code(world, Api.CREATE_PARTITION, partition_request(dt="3")) == TOO_MANY
    world.create("wide", partitions=["dt"], properties={"table.replication.factor": "2"})
    assert code(world, Api.CREATE_PARTITION, partition_request("wide", dt="1")) == FACTOR
