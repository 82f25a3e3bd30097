"""Who leads which bucket: learned, kept, forgotten, asked for again."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from lakeward.client.cluster.metadata_cache import Address, MetadataCache
from lakeward.errors import ErrorCode, LakewardError
from lakeward.model.bucket import TableBucket
from lakeward.model.table import TablePath
from lakeward.protocol.api import Api
from lakeward.protocol.messages.metadata import (
    MetadataRequest,
    MetadataResponse,
    PbBucketMetadata,
    PbPartitionMetadata,
    PbServerNode,
    PbTableMetadata,
)
from lakeward.protocol.messages.shared import PbTablePath

PATH = TablePath("d", "t")
SERVERS = {
    "coordinator_server": PbServerNode(node_id=0, host="boss", port=1),
    "tablet_servers": (PbServerNode(node_id=1, host="one", port=2), PbServerNode(node_id=2, host="two", port=2)),
}


def table(*leaders: int | None) -> PbTableMetadata:
    """Table 7 with one bucket per leader."""
    buckets = tuple(PbBucketMetadata(bucket_id=i, leader_id=leader) for i, leader in enumerate(leaders))
    return PbTableMetadata(
        table_path=PbTablePath(database_name="d", table_name="t"),
        table_id=7,
        schema_id=1,
        table_json=b"{}",
        bucket_metadata=buckets,
        created_time=0,
        modified_time=0,
    )


class Pool:
    """Every address answers from the same list; a string in it is a server that is down."""

    def __init__(self, *answers: MetadataResponse | LakewardError) -> None:
        self.answers = list(answers)
        self.asked: list[tuple[str, MetadataRequest]] = []

    def ready(self, host: str, port: int) -> None:
        """Nothing is connected yet."""

    async def channel(self, host: str, port: int) -> Any:
        """A channel that answers with the next answer."""
        pool = self

        class Channel:
            async def request(self, api: Api, message: MetadataRequest, *, timeout_ms: float) -> MetadataResponse:
                assert api is Api.GET_METADATA
                pool.asked.append((host, message))
                answer = pool.answers.pop(0) if len(pool.answers) > 1 else pool.answers[0]
                if isinstance(answer, LakewardError):
                    raise answer
                return answer

        return Channel()


def cache_over(*answers: MetadataResponse | LakewardError) -> tuple[MetadataCache, Pool]:
    """A cache whose cluster answers so, in turn; the last answer is repeated."""
    pool = Pool(*answers)
    return MetadataCache(pool, [Address("start", 9)], 1000), pool  # type: ignore[arg-type]


async def test_servers_and_leaders_are_learned() -> None:
    """Leaders are server ids; the cache gives addresses."""
    cache, _ = cache_over(MetadataResponse(**SERVERS, table_metadata=(table(2, 1, None),)))
    await cache.refresh(PATH)
    found = [cache.leader(TableBucket(7, None, b)) for b in range(4)]
    assert found == [Address("two", 2), Address("one", 2), None, None]
    assert cache.coordinator == Address("boss", 1)
    assert [(s.role, s.host) for s in cache.servers] == [("coordinator", "boss"), ("tablet", "one"), ("tablet", "two")]


async def test_a_leader_that_was_refuted_is_forgotten() -> None:
    """Until the next refresh nobody leads that bucket."""
    cache, _ = cache_over(MetadataResponse(**SERVERS, table_metadata=(table(2),)))
    await cache.refresh(PATH)
    cache.forget(TableBucket(7, None, 0))
    assert cache.leader(TableBucket(7, None, 0)) is None


async def test_partitions_are_known_by_name() -> None:
    """A partition's id and leaders come with its name."""
    partition = PbPartitionMetadata(
        table_id=7,
        partition_name="2024",
        partition_id=30,
        bucket_metadata=(PbBucketMetadata(bucket_id=0, leader_id=1),),
    )
    cache, pool = cache_over(MetadataResponse(**SERVERS, partition_metadata=(partition,)))
    await cache.refresh(PATH, ["2024"])
    assert cache.partition_id(7, "2024") == 30
    assert cache.leader(TableBucket(7, 30, 0)) == Address("one", 2)
    assert pool.asked[0][1].partitions_path[0].partition_name == "2024"


async def test_an_election_is_waited_for() -> None:
    """A fresh table's buckets get their leaders after a moment."""
    unled = MetadataResponse(**SERVERS, table_metadata=(table(None),))
    led = MetadataResponse(**SERVERS, table_metadata=(table(1),))
    cache, pool = cache_over(unled, led)
    await cache.wait_for_leaders(PATH, [TableBucket(7, None, 0)])
    assert cache.leader(TableBucket(7, None, 0)) == Address("one", 2)
    assert len(pool.asked) == 2


async def test_a_bucket_that_never_gets_a_leader_is_an_error() -> None:
    """Patience has an end, and the message says which bucket."""
    cache, _ = cache_over(MetadataResponse(**SERVERS, table_metadata=(table(None),)))
    with pytest.raises(LakewardError, match=r"d\.t.*bucket=0") as caught:
        await cache.wait_for_leaders(PATH, [TableBucket(7, None, 0)], wait_ms=0)
    assert caught.value.code is ErrorCode.LEADER_NOT_AVAILABLE


async def test_a_table_that_was_created_anew_is_told_at_once() -> None:
    """Nobody will ever lead a bucket of the old one."""
    cache, pool = cache_over(MetadataResponse(**SERVERS, table_metadata=(table(1),)))
    with pytest.raises(LakewardError, match=r"d\.t was dropped and created anew; open it again") as caught:
        await cache.wait_for_leaders(PATH, [TableBucket(6, None, 0)])
    assert caught.value.code is ErrorCode.TABLE_NOT_EXIST
    assert len(pool.asked) == 1


async def test_a_server_that_still_names_an_older_table_is_asked_again() -> None:
    """Servers learn of a new table one after the other."""
    newer = dataclasses.replace(table(1), table_id=8)
    behind, abreast = (MetadataResponse(**SERVERS, table_metadata=(known,)) for known in (table(2), newer))
    cache, _ = cache_over(behind, abreast)
    await cache.wait_for_leaders(PATH, [TableBucket(8, None, 0)])
    assert cache.leader(TableBucket(8, None, 0)) == Address("one", 2)


async def test_every_known_server_is_asked_before_giving_up() -> None:
    """Servers that are down are passed over; the bootstrap address comes last."""
    cache, pool = cache_over(MetadataResponse(**SERVERS), ErrorCode.NETWORK.error("down"))
    await cache.refresh()
    with pytest.raises(LakewardError, match="down"):
        await cache.refresh()
    assert [host for host, _ in pool.asked] == ["start", "one", "two", "start"]


async def test_a_refusal_is_not_passed_over() -> None:
    """An error that another server would give too is raised at once."""
    cache, pool = cache_over(ErrorCode.TABLE_NOT_EXIST.error("no table"))
    with pytest.raises(LakewardError, match="no table"):
        await cache.refresh(PATH)
    assert len(pool.asked) == 1


def named(partition_id: int) -> MetadataResponse:
    """What a server says of partition `a`."""
    partition = PbPartitionMetadata(table_id=7, partition_name="a", partition_id=partition_id)
    return MetadataResponse(**SERVERS, partition_metadata=(partition,))


async def test_a_dropped_partition_is_not_believed_again() -> None:
    """Servers name it for a moment longer; rows that went there would be lost. Its successor has another id."""
    pool = Pool(named(1), named(1), named(1), named(2))
    cache = MetadataCache(pool, [Address("one", 2)], 1000)  # type: ignore[arg-type]
    await cache.refresh(PATH, ["a"])
    assert cache.partition_id(7, "a") == 1
    cache.forget_partition(7, "a")
    await cache.refresh(PATH, ["a"])
    assert cache.partition_id(7, "a") is None
    await cache.wait_for_partition(PATH, 7, "a")
    assert cache.partition_id(7, "a") == 2


async def test_a_partition_that_was_created_anew_is_told_at_once() -> None:
    """Nobody will ever lead a bucket of the old one, though a partition of its name is there."""
    cache, pool = cache_over(named(2))
    with pytest.raises(LakewardError, match=r"d\.t: partition a was dropped and created anew") as caught:
        await cache.wait_for_leaders(PATH, [TableBucket(7, 1, 0)], "a")
    assert caught.value.code is ErrorCode.PARTITION_NOT_EXISTS
    assert len(pool.asked) == 1


async def test_a_server_that_still_names_an_older_partition_is_asked_again() -> None:
    """Servers learn of a new partition one after the other."""
    buckets = (PbBucketMetadata(bucket_id=0, leader_id=1),)
    newer = PbPartitionMetadata(table_id=7, partition_name="a", partition_id=2, bucket_metadata=buckets)
    cache, _ = cache_over(named(1), MetadataResponse(**SERVERS, partition_metadata=(newer,)))
    await cache.wait_for_leaders(PATH, [TableBucket(7, 2, 0)], "a")
    assert cache.leader(TableBucket(7, 2, 0)) == Address("one", 2)


async def test_a_new_partition_that_nobody_hears_of_is_told() -> None:
    """The wait ends, with a sentence."""
    cache = MetadataCache(Pool(named(1)), [Address("one", 2)], 1000)  # type: ignore[arg-type]
    await cache.refresh(PATH, ["a"])
    cache.forget_partition(7, "a")
    with pytest.raises(LakewardError, match="partition a was created anew"):
        await cache.wait_for_partition(PATH, 7, "a", wait_ms=0)


async def test_a_partition_that_servers_do_not_have_is_not_believed_in() -> None:
    """Somebody else has dropped it: who needs it next asks again, or creates it, and does not fail for ever."""
    gone = ErrorCode.PARTITION_NOT_EXISTS.error("no partition a")
    cache, _ = cache_over(named(1), gone, named(2))
    await cache.refresh(PATH, ["a"])
    with pytest.raises(LakewardError, match="no partition a"):
        await cache.wait_for_leaders(PATH, [TableBucket(7, 1, 0)], "a")
    assert cache.partition_id(7, "a") is None
    await cache.refresh(PATH, ["a"])
    assert cache.partition_id(7, "a") == 2
