"""lakeward copy to a real Apache Fluss with three tablet servers, and from there to a server of ours."""

from __future__ import annotations

import os
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pytest
from copies import copy, log_of, state_of
from eventually import eventually
from moving_story import run_moving_story
from server_process import ServerProcess

import lakeward
from lakeward.model.schema import Aggregate, Column, Schema
from lakeward.model.type_text import parse_type

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]
Start = Callable[..., ServerProcess]


@dataclass
class Apache:
    """The cluster."""

    bootstrap: str = os.environ["LAKEWARD_PEER_COPY"]


@pytest.fixture
def there() -> Iterator[lakeward.Connection]:
    """A connection to the cluster."""
    with lakeward.connect(Apache.bootstrap) as opened:
        yield opened


def _fill(connection: lakeward.Connection, database: str) -> list[str]:
    """A log of several schemas, partitions, rows by key, in one database."""
    connection.create_database(database, comment="to be moved")
    log = connection.create_table(f"{database}.log", "id INT, name STRING", buckets=3)
    log.append(pa.table({"id": pa.array(range(50_000), pa.int32()), "name": [f"name {i}" for i in range(50_000)]}))
    connection.alter_table(f"{database}.log", add_columns="price DOUBLE")
    connection.table(f"{database}.log").append([{"id": 1, "name": "x", "price": 2.5}])
    parts = connection.create_table(f"{database}.parts", "id INT, dt STRING", partition_by=["dt"], buckets=2)
    parts.append([{"id": i, "dt": f"2026-0{i % 3 + 1}"} for i in range(300)])
    keyed = connection.create_table(f"{database}.keyed", "id INT NOT NULL, name STRING, PRIMARY KEY (id)", buckets=2)
    keyed.upsert(pa.table({"id": pa.array(range(5_000), pa.int32()), "name": ["a"] * 5_000}))
    keyed.upsert([{"id": 1, "name": "b"}, {"id": 1, "name": "c"}, {"id": 2, "name": None}])
    keyed.delete([{"id": i} for i in range(10, 20)])
    keyed.delete([{"id": 99_999}])
    return [f"{database}.{name}" for name in ("log", "parts", "keyed")]


def test_there_and_back_again(new_server: Start, there: lakeward.Connection) -> None:
    """Ours → Apache with three replicas → another of ours: three times the same logs and states."""
    first, last = new_server(), new_server()
    database = f"moved_{uuid.uuid4().hex[:8]}"
    with lakeward.connect(first.bootstrap) as here, lakeward.connect(last.bootstrap) as home:
        tables = _fill(here, database)
        told = copy(first, Apache(), f"{database}.*", "--set", "table.replication.factor=3")
        assert {(one["compared"], one["offsets"]) for one in told.values()} == {("same", "same")}
        told = copy(Apache(), last, f"{database}.*")
        assert {(one["compared"], one["offsets"]) for one in told.values()} == {("same", "same")}
        for table in tables:
            assert log_of(here, table) == log_of(there, table) == log_of(home, table)
        keyed = f"{database}.keyed"
        assert state_of(here, keyed) == state_of(there, keyed) == state_of(home, keyed)
        assert there.table(keyed).lookup([{"id": 1}]).to_pylist() == [{"id": 1, "name": "c"}]


@pytest.mark.oracle
async def test_the_official_client_goes_on_with_what_was_copied(new_server: Start, there: lakeward.Connection) -> None:
    """It reads the offsets that the source had, and appends behind them."""
    from pyfluss_session import Session, append, scan

    source = new_server()
    name = f"t_{uuid.uuid4().hex[:8]}"
    with lakeward.connect(source.bootstrap) as here:
        here.create_table(f"fluss.{name}", "id BIGINT, name STRING", buckets=1).append(
            [{"id": i, "name": "n"} for i in range(100)]
        )
        copy(source, Apache(), f"fluss.{name}")
    async with await Session.open(Apache.bootstrap, "fluss", writer__batch_timeout_ms="0") as session:
        table = await session.table(name)
        schema = pa.schema([("id", pa.int64()), ("name", pa.string())])
        await append(table, pa.record_batch([pa.array([100]), pa.array(["new"])], schema=schema))
        rows = await scan(table)
    assert sorted(rows["id"].to_pylist()) == list(range(101))
    assert there.table(f"fluss.{name}").offsets("latest") == {lakeward.BucketId(None, 0): 101}


def test_offsets_without_rows_are_one_empty_batch(new_server: Start, there: lakeward.Connection) -> None:
    """A log whose first rows retention removed has its others at the same offsets."""
    source = new_server(log__retention__check_interval="100ms", log__segment__delete_delay="0s")
    name = f"fluss.short_{uuid.uuid4().hex[:8]}"
    small = {"table.log.segment.file-size": "4kb", "table.log.retention.bytes": "10kb"}
    with lakeward.connect(source.bootstrap) as here:
        table = here.create_table(name, "id INT, name STRING", buckets=1, properties=small)
        for number in range(40):
            table.append([{"id": number, "name": f"{i * 7919:x}"} for i in range(200)])
        assert eventually(lambda: table.offsets("earliest") != {lakeward.BucketId(None, 0): 0}, within_s=30)
        told = copy(source, Apache(), name)[name]
        assert told["compared"] == "same"
        assert any("does not know the property table.log.retention.bytes" in note for note in told["notes"])
        assert log_of(there, name) == log_of(here, name)


def test_sums_that_were_merged_are_not_merged_again(new_server: Start, there: lakeward.Connection) -> None:
    """An aggregating table comes over as it is, or is refused by its comparison; never silently wrong."""
    source = new_server()
    name = f"fluss.sums_{uuid.uuid4().hex[:8]}"
    columns = [Column("id", parse_type("INT NOT NULL")), Column("n", parse_type("BIGINT"), aggregate=Aggregate("sum"))]
    with lakeward.connect(source.bootstrap) as here:
        table = here.create_table(name, Schema.of(columns, ("id",)), properties={"table.merge-engine": "aggregation"})
        for _ in range(3):
            table.upsert([{"id": i, "n": 7} for i in range(10)])
        copy(source, Apache(), name)
        assert state_of(there, name) == state_of(here, name)


def test_a_copy_is_killed_while_writers_run_and_cut_over(new_server: Start, there: lakeward.Connection) -> None:
    """kill -9 in the middle, started again, then a cut-over: no row is lost, none is there twice."""
    source = new_server()
    database = f"live_{uuid.uuid4().hex[:8]}"
    with lakeward.connect(source.bootstrap) as here:
        tables = _fill(here, database)
        command = [sys.executable, "-m", "lakeward", "copy", source.bootstrap, Apache.bootstrap, f"{database}.*"]
        killed = subprocess.Popen(command)
        time.sleep(3)
        killed.kill()
        killed.wait()
        follower = subprocess.Popen([*command, "--cut-over", "--silence", "3s"], stderr=subprocess.PIPE, text=True)
        for number in range(20):
            here.table(f"{database}.log").append([{"id": number, "name": "live", "price": None}])
            here.table(f"{database}.keyed").upsert([{"id": number, "name": f"live {number}"}])
            time.sleep(0.2)
        _, errors = follower.communicate(timeout=120)
        assert follower.returncode == 0, errors
        for table in tables:
            assert log_of(here, table) == log_of(there, table)


def test_the_guide_moves_house(new_server: Start, tmp_path: Path, there: lakeward.Connection) -> None:
    """Every command of the section, with three replicas of every row."""
    there.drop_database("moving", cascade=True, missing_ok=True)
    run_moving_story(new_server().bootstrap, Apache.bootstrap, tmp_path)
