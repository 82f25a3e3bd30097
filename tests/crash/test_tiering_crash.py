"""A tiering service that is killed at every step of a round: no row is lost, none is there twice."""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from lake_tables import pyiceberg_table, read_by_pyiceberg
from server_process import ServerProcess
from service_lives import Lives
from tiering_runs import TIERED, Warehouse

import lakeward
from lakeward.lake.iceberg.table import IcebergTable
from lakeward.lake.port import LakeSnapshot

ROUNDS = int(os.environ.get("TIERING_CRASH_ROUNDS", "8"))
STEPS = (
    "before files",
    "in a file",
    "after files",
    "before the lake commit",
    "after the lake commit",
    "before the report",
    "after the report",
    "a task",
)


@pytest.fixture
def lake(new_server: Callable[..., ServerProcess], tmp_path: Path) -> Iterator[Warehouse]:
    """A server and a warehouse of this test's own."""
    opened = Warehouse(new_server().bootstrap, tmp_path / "lake")
    yield opened
    opened.close()


@pytest.fixture
def lives(lake: Warehouse) -> Iterator[Lives]:
    """Lives of a service over the database `shop`."""
    lake.conn.create_database("shop")
    opened = Lives(lake.bootstrap, str(lake.directory), "shop")
    yield opened
    opened.close()


@pytest.mark.crash
@pytest.mark.timeout(3600)
def test_a_service_that_is_killed_at_every_step(lake: Warehouse, lives: Lives) -> None:
    """After each life the lake holds the log exactly up to the offsets it names; at the end it holds all of it."""
    chance = random.Random(20261115)
    log = lake.conn.create_table("shop.log", "id BIGINT, name STRING", buckets=2, properties=TIERED)
    users = lake.conn.create_table(
        "shop.users", "id BIGINT NOT NULL, name STRING", primary_key=["id"], buckets=2, properties=TIERED
    )
    lake.directory.mkdir()
    for number in range(ROUNDS):
        step = STEPS[number % len(STEPS)]
        log.append([{"id": number * 100 + i, "name": step} for i in range(chance.randrange(1, 100))])
        users.upsert([{"id": chance.randrange(200), "name": f"{number}-{i}"} for i in range(30)])
        users.delete([{"id": chance.randrange(200)} for _ in range(5)])
        ended = lives.live(step, 1 + number // len(STEPS) % 2)
        assert ended == ("0" if step == "a task" else "killed"), step
        _assert_exact(lake, log)
    assert lives.live("none") == "0"
    assert lake.assert_same_log(log) == log.count()
    assert lake.assert_same_state(users) == users.count()
    _clean(lake, log)
    _clean(lake, users)
    lake.assert_same_log(log)
    lake.assert_same_state(users)


def _latest(lake: Warehouse, table: lakeward.Table) -> LakeSnapshot | None:
    from pyiceberg.exceptions import NoSuchTableError

    try:
        return IcebergTable(pyiceberg_table(lake.directory, str(table.path))).latest()
    except NoSuchTableError:
        return None


def _assert_exact(lake: Warehouse, table: lakeward.Table) -> None:
    """By the lake's own word: each offset below a bucket's end is there, once, and none beyond."""
    latest = _latest(lake, table)
    if latest is None:
        return
    assert latest.offsets is not None
    rows: list[dict[str, Any]] = read_by_pyiceberg(lake.directory, str(table.path))
    for bucket, end in latest.offsets.items():
        assert sorted(r["__offset"] for r in rows if r["__bucket"] == bucket.bucket) == list(range(end))
    assert len(rows) == sum(latest.offsets.values())


def _clean(lake: Warehouse, table: lakeward.Table) -> None:
    """What the crashes left is found and removed; a second look finds nothing."""
    found = IcebergTable(pyiceberg_table(lake.directory, str(table.path)))
    found.remove(found.orphans(10**13))
    assert found.orphans(10**13) == []
