"""Which buckets there are, and where their files lie."""

from __future__ import annotations

import pytest
from bucket_world import ROOT, BucketWorld
from logs import fill

from lakeward.errors import ErrorCode, LakewardError
from lakeward.model.bucket import TableBucket


@pytest.fixture
def world() -> BucketWorld:
    """Buckets in memory."""
    return BucketWorld()


def refusal(world: BucketWorld, bucket: TableBucket) -> ErrorCode:
    """How a bucket is refused."""
    with pytest.raises(LakewardError) as wrong:
        world.buckets.table(bucket)
    return wrong.value.code


def test_a_bucket_that_is_not_there_is_refused(world: BucketWorld) -> None:
    """By table, by number, and by a partition that its table does not have."""
    good = world.bucket()
    assert world.buckets.table(good).path.table == "t"
    for wrong in (TableBucket(99, None, 0), good._replace(bucket=99), good._replace(partition_id=3)):
        assert refusal(world, wrong) is ErrorCode.UNKNOWN_TABLE_OR_BUCKET
        assert not world.buckets.exists(wrong)


def test_a_partition_belongs_to_its_own_table(world: BucketWorld) -> None:
    """Its id alone does not open the bucket of another one."""
    tables = [world.create(name, partition_key=["id"]) for name in ("one", "two")]
    (partition,) = world.catalog.create_partitions(tables[0].table_id, ["7"], 0)
    good = TableBucket(tables[0].table_id, partition.partition_id, 0)
    assert world.buckets.name(good) == "db.one 0 --partition 7"
    assert world.buckets.partition_values(good) == ("7",)
    assert refusal(world, good._replace(table_id=tables[1].table_id)) is ErrorCode.UNKNOWN_TABLE_OR_BUCKET


def test_a_table_that_was_dropped_is_led_by_nobody(world: BucketWorld) -> None:
    """Clients are told to look again instead of giving up at once; its files are gone."""
    table = world.create()
    bucket = TableBucket(table.table_id, None, 0)
    fill(world.logs.open(bucket), 3)
    directory = world.buckets.log_directory(bucket)
    assert world.files.exists(directory)
    world.catalog.drop_table(table.table_id)
    world.logs.forget(lambda one: one == bucket)
    world.buckets.remove_table(table)
    assert refusal(world, bucket) is ErrorCode.NOT_LEADER_OR_FOLLOWER
    assert not world.files.exists(directory)


def test_what_a_crash_left_of_a_drop_is_removed(world: BucketWorld) -> None:
    """The directory was renamed, and the server died before it was empty."""
    left = ROOT / "db" / "t-5.dropped"
    world.files.make_directory(left)
    world.buckets.remove_leftovers()
    assert not world.files.exists(left)
