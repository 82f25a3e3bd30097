"""Partitioned tables through the official client."""

from __future__ import annotations

import datetime as dt

import fluss
import pyarrow as pa
import pytest
from pyfluss_session import BEGINNING, LATEST, Session, append, error_code

from lakeward.runtime.clock import SystemClock

pytestmark = pytest.mark.oracle

SCHEMA = pa.schema([("id", pa.int64()), ("day", pa.string()), ("region", pa.string())])
Code = fluss.ErrorCode


def now_utc() -> dt.datetime:
    """What the calendar says."""
    return dt.datetime.fromtimestamp(SystemClock().now_ms() / 1000, dt.UTC)


def rows(day: str, region: str, ids: range) -> pa.RecordBatch:
    """Rows of one partition."""
    count = len(ids)
    return pa.record_batch([pa.array(ids, pa.int64()), [day] * count, [region] * count], schema=SCHEMA)


async def read(table: fluss.FlussTable, partition: int, buckets: int = 1) -> list[int]:
    """The ids in a partition."""
    scanner = await table.new_scan().create_record_batch_log_scanner()
    scanner.subscribe_partition_buckets({(partition, bucket): BEGINNING for bucket in range(buckets)})
    return (await scanner.to_arrow())["id"].to_pylist()


async def test_partitions_are_made_listed_and_dropped(session: Session) -> None:
    """Names are the values in key order; a partial spec lists what matches it."""
    await session.create("parts", SCHEMA, partition_keys=["day", "region"])
    path, admin = session.path("parts"), session.admin
    assert await session.partitions("parts") == {}
    for day, region in [("d1", "eu"), ("d1", "us"), ("d2", "eu")]:
        await admin.create_partition(path, {"region": region, "day": day})
    found = await session.partitions("parts")
    assert set(found) == {"d1$eu", "d1$us", "d2$eu"}
    assert len(set(found.values())) == 3
    assert set(await session.partitions("parts", region="eu")) == {"d1$eu", "d2$eu"}
    assert set(await session.partitions("parts", day="d1")) == {"d1$eu", "d1$us"}
    await admin.drop_partition(path, {"day": "d1", "region": "eu"})
    assert set(await session.partitions("parts")) == {"d1$us", "d2$eu"}


async def test_partitions_are_refused_by_code(session: Session) -> None:
    """Existing, missing and misspelt partitions have codes of their own."""
    await session.create("parts", SCHEMA, partition_keys=["day", "region"])
    await session.create("plain", SCHEMA)
    path, admin = session.path("parts"), session.admin
    spec = {"day": "d1", "region": "eu"}
    await admin.create_partition(path, spec)
    assert await error_code(admin.create_partition(path, spec)) == Code.PARTITION_ALREADY_EXISTS
    assert await error_code(admin.create_partition(path, spec, ignore_if_exists=True)) == 0
    missing = {"day": "d9", "region": "eu"}
    assert await error_code(admin.drop_partition(path, missing)) == Code.PARTITION_NOT_EXISTS
    assert await error_code(admin.drop_partition(path, missing, ignore_if_not_exists=True)) == 0
    for bad in (
        {"day": "d1"},
        {"day": "d1", "planet": "x"},
        {"day": "../x", "region": "eu"},
        {"day": "", "region": "x"},
    ):
        assert await error_code(admin.create_partition(path, bad)) == Code.PARTITION_SPEC_INVALID_EXCEPTION, bad
    plain = session.path("plain")
    assert await error_code(admin.create_partition(plain, spec)) == Code.TABLE_NOT_PARTITIONED_EXCEPTION
    assert await error_code(admin.list_partition_infos(plain)) == Code.TABLE_NOT_PARTITIONED_EXCEPTION
    nowhere = session.path("not_there")
    assert await error_code(admin.create_partition(nowhere, spec)) == Code.TABLE_NOT_EXIST


async def test_rows_find_their_partition(session: Session) -> None:
    """Each partition has its own buckets and offsets."""
    table = await session.create("parts", SCHEMA, partition_keys=["day"], bucket_count=2, bucket_keys=["id"])
    for day in ("d1", "d2"):
        await session.admin.create_partition(session.path("parts"), {"day": day})
        await session.partition_ready("parts", day, 2)
    await append(table, rows("d1", "x", range(100)), rows("d2", "x", range(100, 150)))
    found = await session.partitions("parts")
    assert sorted(await read(table, found["d1"], 2)) == list(range(100))
    assert sorted(await read(table, found["d2"], 2)) == list(range(100, 150))
    ends = await session.admin.list_partition_offsets(session.path("parts"), "d2", [0, 1], LATEST)
    assert sum(ends.values()) == 50


async def test_a_partition_made_again_is_empty(session: Session) -> None:
    """Dropped rows do not come back with the name."""
    table = await session.create("parts", SCHEMA, partition_keys=["day"])
    path = session.path("parts")
    await session.admin.create_partition(path, {"day": "d1"})
    await session.partition_ready("parts", "d1")
    await append(table, rows("d1", "x", range(10)))
    before = await session.partitions("parts")
    await session.admin.drop_partition(path, {"day": "d1"})
    await session.admin.create_partition(path, {"day": "d1"})
    after = await session.partitions("parts")
    assert after["d1"] != before["d1"]
    async with await Session.open(session.bootstrap, session.database) as other:
        await other.partition_ready("parts", "d1")
        ends = await other.admin.list_partition_offsets(path, "d1", [0], LATEST)
        assert ends == {0: 0}


@pytest.mark.parametrize(
    ("unit", "text", "count"), [("day", "%Y%m%d", 3), ("hour", "%Y%m%d%H", 2), ("month", "%Y%m", 2), ("year", "%Y", 4)]
)
async def test_partitions_come_by_the_calendar(session: Session, unit: str, text: str, count: int) -> None:
    """An auto-partitioned table has partitions for now and the next periods from the beginning."""
    schema = pa.schema([("id", pa.int64()), ("at", pa.string())])
    properties = {
        "table.auto-partition.enabled": "true",
        "table.auto-partition.time-unit": unit,
        "table.auto-partition.time-zone": "UTC",
        "table.auto-partition.num-precreate": str(count),
    }
    before = now_utc()
    await session.create("auto", schema, partition_keys=["at"], properties=properties)
    names = set(await session.partitions("auto"))
    while len(names) < count:  # a cluster of several processes makes them a moment later
        names = set(await session.partitions("auto"))
    after = now_utc()
    assert len(names) == count
    assert {now.strftime(text) for now in (before, after)} & names
    now_name = min(names)
    await session.partition_ready("auto", now_name)
    table = await session.table("auto")
    await append(table, pa.record_batch([pa.array([1, 2], pa.int64()), [now_name] * 2], schema=schema))
    assert await read(table, (await session.partitions("auto"))[now_name]) == [1, 2]


async def test_quarters_have_their_own_calendar(session: Session) -> None:
    """Quarters are named by year and number."""
    schema = pa.schema([("id", pa.int64()), ("at", pa.string())])
    properties = {
        "table.auto-partition.enabled": "true",
        "table.auto-partition.time-unit": "quarter",
        "table.auto-partition.time-zone": "UTC",
        "table.auto-partition.num-precreate": "4",
    }
    await session.create("auto", schema, partition_keys=["at"], properties=properties)
    names: set[str] = set()
    while len(names) < 4:
        names = set(await session.partitions("auto"))
    now = now_utc()
    assert f"{now.year}{(now.month - 1) // 3 + 1}" in names
    assert {name[-1] for name in names} == set("1234")
