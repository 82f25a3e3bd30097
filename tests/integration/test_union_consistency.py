"""One consistent answer while tags, partitions and logs come and go."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from eventually import eventually
from lake_tables import pyiceberg_table
from query_reads import read, rows_of
from server_process import ServerProcess
from tiering_runs import TIERED, Warehouse

import lakeward
from lakeward.client.forms.results import BucketId
from lakeward.errors import LakewardError
from lakeward.lake.paimon.manifest.snapshots import Snapshots
from lakeward.query.plan.planner import plan_read
from lakeward.query.plan.splits import LakeRangeSplit, Tier
from lakeward.query.request.filters import Compare
from lakeward.query.request.request import ReadRequest

pytestmark = pytest.mark.slow
BUCKET = BucketId(None, 0)
FAR_MS = 10 * 86_400_000


@pytest.fixture
def lake(new_server: Callable[..., ServerProcess], tmp_path: Path) -> Iterator[Warehouse]:
    """A server that lets whole logs go when they are old, and a warehouse beside it."""
    server = new_server(
        log__retention__check_interval="50ms",
        log__retention__roll_active_segment__enabled="true",
        log__segment__file_size="2kb",
        kv__snapshot__interval="100ms",
    )
    opened = Warehouse(server.bootstrap, tmp_path / "lake")
    opened.conn.create_database("db")
    yield opened
    opened.close()


def made(lake: Warehouse, tiered: dict[str, str], *, keyed: bool, **rest: Any) -> lakeward.Table:
    """A table of one bucket."""
    key = ["id", *rest.get("partition_by", ())] if keyed else []
    columns = "id BIGINT NOT NULL, name STRING, dt STRING NOT NULL"
    more = {"bucket_by": ["id"]} if keyed else {}
    kept = {"paimon.snapshot.num-retained.min": "1"} if tiered["table.datalake.format"] == "paimon" else {}
    return lake.conn.create_table(
        "db.t", columns, primary_key=key, buckets=1, properties=tiered, custom_properties=kept, **more, **rest
    )


def rows(start: int, stop: int, name: str = "x", dt: str = "a") -> list[dict[str, Any]]:
    """Some rows."""
    return [{"id": i, "name": name, "dt": dt} for i in range(start, stop)]


def asked(lake: Warehouse, **options: str) -> dict[str, str]:
    """Where the lake is, and what else a read says."""
    return {"lake.warehouse": str(lake.directory), **{k.replace("_", "-"): v for k, v in options.items()}}


def ids(lake: Warehouse, name: object, **options: str) -> list[int]:
    """A whole read."""
    return sorted(read(lake.conn, str(name), options=asked(lake, **options))["id"].to_pylist())


def forget(lake: Warehouse, table: lakeward.Table, beyond: int, again: Sequence[dict[str, Any]] = ()) -> None:
    """Let the log go, until an offset is gone; the changelog of a table by key goes when two snapshots are behind it.

    `again` are rows that change nothing, to have more of them taken.
    """
    lake.conn.alter_table(str(table.path), set={"table.log.ttl": "1ms"})

    def is_gone() -> bool:
        if again:
            table.upsert(again)
        return table.offsets("earliest")[BUCKET] > beyond

    assert eventually(is_gone, within_s=60)
    lake.conn.alter_table(str(table.path), set={"table.log.ttl": "1h"})


def tag(lake: Warehouse, table: lakeward.Table, name: str) -> None:
    """Name the newest snapshot, as people do with other tools."""
    if table.info.descriptor.properties["table.datalake.format"] == "iceberg":
        opened = pyiceberg_table(lake.directory, str(table.path))
        newest = opened.metadata.current_snapshot_id
        assert newest is not None
        opened.manage_snapshots().create_tag(newest, name).commit()
        return
    (directory,) = lake.directory.glob("db.db/t")
    snapshots = Snapshots(directory)
    newest_one = snapshots.newest()
    assert newest_one is not None
    snapshots.tag(name, newest_one)


@pytest.mark.covering
@pytest.mark.parametrize("keyed", [False, True])
def test_a_table_as_a_tag_has_it(lake: Warehouse, tiered: dict[str, str], keyed: bool) -> None:
    """Also when all the snapshots around it have expired; a tag that is not there is told with those that are."""
    table = made(lake, tiered, keyed=keyed)
    put = table.upsert if keyed else table.append
    put(rows(0, 10))
    lake.round(table)
    tag(lake, table, "month-end")
    for first in (10, 20, 30):
        put(rows(first, first + 10))
        lake.round(table)
    assert ids(lake, table.path, **{"scan.tag": "month-end"}) == list(range(10))
    opened: Any = lake.context().catalogs.of(table.info).ensure(table.info)
    assert opened.expire(lake.context().clock.now_ms() + FAR_MS) > 0
    assert ids(lake, table.path, **{"scan.tag": "month-end"}) == list(range(10))
    with pytest.raises(LakewardError, match=r"db.t has no tag 'year-end'; it has month-end"):
        ids(lake, table.path, **{"scan.tag": "year-end"})


@pytest.mark.covering
@pytest.mark.parametrize("keyed", [False, True])
def test_a_partition_made_anew_goes_on_from_the_old_one(lake: Warehouse, tiered: dict[str, str], keyed: bool) -> None:
    """Before and after its first round: late rows that bring an expired partition back do not cost its history."""
    table = made(lake, tiered, keyed=keyed, partition_by=["dt"])
    put = table.upsert if keyed else table.append
    for day, first in (("a", 0), ("b", 100), ("c", 200)):
        table.create_partition({"dt": day})
        put(rows(first, first + 10, dt=day))
    lake.round(table)
    for day in ("a", "c"):
        table.drop_partition({"dt": day})
    others = [*range(100, 110), *range(200, 210)]
    assert ids(lake, table.path) == [*range(10), *others]  # nobody has taken the name yet
    table.create_partition({"dt": "a"})
    assert ids(lake, table.path) == [*range(10), *others]
    put(rows(8, 12, "new"))
    late = [8, 9, 10, 11] if not keyed else [10, 11]
    assert ids(lake, table.path) == sorted([*range(10), *late, *others])
    lake.round(table)
    assert ids(lake, table.path) == sorted([*range(10), *late, *others])
    assert ids(lake, f"{table.path}$lake") == sorted([*range(10), *late, *others])
    put(rows(12, 13, "newer"))
    assert ids(lake, table.path) == sorted([*range(10), *late, 12, *others])


def test_a_primary_key_table_goes_on_in_the_newer_snapshot(lake: Warehouse, tiered: dict[str, str]) -> None:
    """The changes that a plan would lay over its files have left the log: the newer files have them."""
    table = made(lake, tiered, keyed=True)
    table.upsert(rows(0, 100))
    lake.round(table)
    cold = table.offsets()[BUCKET]
    table.delete([{"id": 5}])
    for _ in range(20):
        table.upsert(rows(90, 120, "new"))
    request = ReadRequest.of_name(str(table.path), options=asked(lake))
    plan = plan_read(lake.conn, request)
    assert [split.tier for split in plan.splits] == [Tier.HYBRID]
    lake.round(table)
    forget(lake, table, cold, rows(90, 120, "new"))
    found = rows_of(lake.conn, request, plan).to_pylist()
    want = [row for row in rows(0, 90) + rows(90, 120, "new") if row["id"] != 5]
    assert sorted(found, key=lambda row: row["id"]) == want


def test_a_log_as_of_a_time_that_only_the_lake_remembers(lake: Warehouse, tiered: dict[str, str]) -> None:
    """Between two snapshots, and before the first: rows have their times in the lake."""
    table = made(lake, tiered, keyed=False)
    times = []
    for first in range(0, 50, 10):
        table.append(rows(first, first + 10))
        newest = table.scan(metadata_columns=True).to_arrow()["_timestamp"][-1].as_py()
        times.append(int(newest.timestamp() * 1000))
        while lake.context().clock.now_ms() <= times[-1]:
            pass
        if first in {20, 40}:
            lake.round(table)
    forget(lake, table, 29)
    table.append(rows(50, 60))
    for number, at_ms in enumerate(times):
        assert ids(lake, table.path, **{"scan.timestamp-millis": str(at_ms)}) == list(range(number * 10 + 10)), number
    request = ReadRequest.of_name(
        str(table.path),
        filters=(Compare("<", "id", 5),),
        options=asked(lake, **{"scan.timestamp-millis": str(times[0])}),
    )
    assert {type(split) for split in plan_read(lake.conn, request).splits} == {LakeRangeSplit}
    sql = lake.conn.sql("SELECT count(*) AS n FROM db.t WHERE id < 5", dict(request.options))
    assert sql.to_pylist() == [{"n": 5}]


def test_a_primary_key_table_as_of_a_time_that_nobody_remembers(lake: Warehouse, tiered: dict[str, str]) -> None:
    """Its old rows are gone: the error names the nearest time and the oldest that can be read."""
    table = made(lake, tiered, keyed=True)
    table.upsert(rows(0, 10))
    lake.round(table)
    cold = table.offsets()[BUCKET]
    table.upsert(rows(0, 5, "between"))
    newest = table.scan(metadata_columns=True).to_arrow()["_timestamp"][-1].as_py()
    at_ms = int(newest.timestamp() * 1000)
    while lake.context().clock.now_ms() <= at_ms:
        pass
    for _ in range(20):
        table.upsert(rows(0, 50, "after"))
    lake.round(table)
    forget(lake, table, cold + 1, rows(0, 50, "after"))
    with pytest.raises(
        LakewardError, match=r"cannot be read as of .* nearest before it .* the oldest that can be read"
    ):
        ids(lake, table.path, **{"scan.timestamp-millis": str(at_ms)})


def test_partitions_come_and_go_while_plans_are_made(lake: Warehouse) -> None:
    """A partition that was listed and is gone a moment later is no reason to fail; the others are whole."""
    table = made(lake, TIERED, keyed=False, partition_by=["dt"])
    table.create_partition({"dt": "b"})
    table.append(rows(0, 10, dt="b"))
    lake.round(table)
    stop = threading.Event()
    failed: list[BaseException] = []

    def come_and_go() -> None:
        try:
            with lakeward.connect(lake.bootstrap) as conn:
                while not stop.is_set():
                    conn.table("db.t").create_partition({"dt": "a"})
                    conn.table("db.t").drop_partition({"dt": "a"})
        except BaseException as wrong:  # noqa: BLE001 - told by the test's own thread
            failed.append(wrong)

    thread = threading.Thread(target=come_and_go)
    thread.start()
    try:
        for _ in range(40):
            assert len(plan_read(lake.conn, ReadRequest.of_name("db.t", options=asked(lake))).splits) == 1
    finally:
        stop.set()
        thread.join()
    assert not failed
