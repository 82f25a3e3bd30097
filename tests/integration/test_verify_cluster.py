"""`lakeward verify` against a running server: log, state and lake say the same, or it is told where they do not."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from cli_process import Cli
from eventually import eventually
from server_process import ServerProcess
from tiering_runs import TIERED, Warehouse

import lakeward

Rows = Callable[[pa.Table], pa.Table]


@pytest.fixture
def run(server: ServerProcess, tmp_path: Path) -> Cli:
    """The command line."""
    return Cli(server.bootstrap, tmp_path)


@pytest.fixture
def orders(lake: Warehouse, database: str, tiered: dict[str, str]) -> lakeward.Table:
    """A log table of three buckets, twice tiered, and ahead of its lake."""
    made = lake.conn.create_table(
        f"{database}.orders", "id INT, item STRING, tags ARRAY<STRING>", buckets=3, properties=tiered
    )
    for number in range(2):
        made.append(
            [{"id": number * 50 + i, "item": f"é{i}" * (i % 4), "tags": [None, "x"][: i % 3]} for i in range(50)]
        )
        lake.round(made)
    made.append([{"id": 1000}])
    return made


@pytest.fixture
def users(lake: Warehouse, database: str, tiered: dict[str, str]) -> lakeward.Table:
    """A primary key table with updates and deletes, twice tiered, and ahead of its lake."""
    made = lake.conn.create_table(
        f"{database}.users", "id INT NOT NULL, name STRING", primary_key="id", buckets=2, properties=tiered
    )
    for number in range(2):
        made.upsert([{"id": i, "name": f"v{number}"} for i in range(20)])
        made.delete([number])
        lake.round(made)
    made.upsert([{"id": 100, "name": "later"}])
    return made


def verified(run: Cli, table: lakeward.Table, *options: str) -> tuple[int, dict[str, Any]]:
    """The exit code, and what is said of the one table."""
    done = run.run("verify", str(table.path), *options, "-o", "json")
    assert done.stdout, done.stderr
    (found,) = json.loads(done.stdout)["tables"]
    return done.returncode, found


def rewrite_newest(lake: Warehouse, table: lakeward.Table, change: Rows) -> Path:
    """Another content for a data file of the table, behind the back of the lake."""
    folder = next(p for p in lake.directory.rglob(table.path.table) if p.is_dir())
    found = sorted(
        (p for p in folder.rglob("*.parquet") if not re.search("deletes|changelog", p.name)),
        key=lambda p: p.stat().st_mtime,
    )
    path = next(p for p in reversed(found) if pq.read_metadata(p).num_rows > 2)
    rows = pq.ParquetFile(path).read()
    pq.write_table(change(rows), path)
    return path


def changed_text(column: str) -> Rows:
    """The last value of a column is another one; the first may be of a key that is deleted."""

    def change(rows: pa.Table) -> pa.Table:
        place = rows.schema.get_field_index(column)
        values = [*rows[column].to_pylist()[:-1], "changed"]
        return rows.set_column(place, rows.schema.field(place), pa.array(values, rows.schema.field(place).type))

    return change


def test_tables_that_agree_are_said_to_agree(
    lake: Warehouse, orders: lakeward.Table, users: lakeward.Table, run: Cli
) -> None:
    """Each row of the log is read, each row of the lake and of the state compared; the exit code is 0."""
    code, found = verified(run, orders)
    assert (code, found["differences"], found["notes"]) == (0, [], [])
    assert (found["log_rows"], found["lake_rows"], found["state_rows"]) == (101, 100, None)
    code, found = verified(run, users)
    assert (code, found["differences"], found["notes"]) == (0, [], [])
    assert (found["state_rows"], found["lake_rows"]) == (users.count(), users.count() - 1)
    told = run.run("verify", str(orders.path), str(users.path))
    assert told.returncode == 0
    assert "everything that was compared says the same" in told.stderr
    assert verified(run, users, "--state")[1]["lake_rows"] is None
    assert verified(run, users, "--lake")[1]["state_rows"] is None
    lake.conn.table(str(users.path))
    run.ok("tables", "compact", str(users.path))
    assert verified(run, users)[0] == 0


def test_a_row_that_is_missing_in_a_file_of_the_lake_is_named(
    lake: Warehouse, orders: lakeward.Table, run: Cli
) -> None:
    """By bucket, offset and file."""
    gone: list[dict[str, Any]] = []

    def change(rows: pa.Table) -> pa.Table:
        gone.extend(rows.slice(1, 1).to_pylist())
        return pa.concat_tables([rows.slice(0, 1), rows.slice(2)])

    path = rewrite_newest(lake, orders, change)
    code, found = verified(run, orders)
    (one,) = found["differences"]
    assert code == 1
    assert (one["where"], one["bucket"], one["offset"]) == ("lake", gone[0]["__bucket"], gone[0]["__offset"])
    assert one["what"] == "a row of the log is not in the lake"
    assert one["file"].endswith(path.name)
    assert "tiered anew" in one["remedy"]


@pytest.mark.long
def test_a_value_that_is_another_in_the_lake_is_named(
    lake: Warehouse, orders: lakeward.Table, users: lakeward.Table, run: Cli
) -> None:
    """By offset in a log table, by key where there is one."""
    path = rewrite_newest(lake, orders, changed_text("item"))
    (one,) = verified(run, orders)[1]["differences"]
    assert one["what"] == "the row in the lake has other values than the one in the log"
    assert one["file"].endswith(path.name)
    rewrite_newest(lake, users, changed_text("name"))
    code, found = verified(run, users)
    (one,) = found["differences"]
    assert code == 1
    assert one["what"] == "the row in the lake has other values than the changelog leaves"
    assert one["key"].startswith("id=")
    assert one["file"] is not None
    assert found["state_rows"] == users.count()


def test_a_row_that_is_missing_by_key_and_a_file_that_is_gone(lake: Warehouse, users: lakeward.Table, run: Cli) -> None:
    """Each is a sentence with the bucket."""
    path = rewrite_newest(lake, users, lambda rows: rows.slice(0, rows.num_rows - 1))
    (one,) = verified(run, users)[1]["differences"]
    assert one["what"] in (
        "the changelog leaves a row of this key, and there is none in the lake",
        "the row in the lake has other values than the changelog leaves",  # an older file has one
    )
    path.unlink()
    told = run.run("verify", str(users.path))
    assert told.returncode == 1
    assert "cannot be read" in told.stderr
    assert path.name in told.stderr


@pytest.mark.long
def test_a_lake_that_has_rows_twice_is_told(lake: Warehouse, orders: lakeward.Table, run: Cli) -> None:
    """As an appender outside of tiering would leave it."""
    rewrite_newest(lake, orders, lambda rows: pa.concat_tables([rows, rows.slice(0, 1)]))
    code, found = verified(run, orders)
    assert code == 1
    assert [one["what"] for one in found["differences"]] == ["a row of the log is 2 times in the lake"]


@pytest.fixture
def own(new_server: Callable[..., ServerProcess]) -> Iterator[tuple[ServerProcess, lakeward.Connection]]:
    """A server whose files the test may damage."""
    server = new_server(kv__snapshot__interval="100ms")
    with lakeward.connect(server.bootstrap) as conn:
        yield server, conn


def test_a_state_that_is_not_what_its_changelog_says_is_told(
    own: tuple[ServerProcess, lakeward.Connection], run: Cli
) -> None:
    """A snapshot with another value, whose checksums are right: only the comparison can find it."""
    server, conn = own
    table = conn.create_table("fluss.users", "id INT NOT NULL, name STRING", primary_key="id", buckets=1)
    table.upsert([{"id": i, "name": "right"} for i in range(5)])
    assert Cli(server.bootstrap, run.directory).run("verify", "users").returncode == 0
    assert eventually(lambda: any(server.data_dir.glob("fluss/users-*/kv-0/snapshot-*/manifest.json")))
    server.stop()
    for snapshot in server.data_dir.glob("fluss/users-*/kv-0/snapshot-*"):
        rewrite_state(snapshot, b"right", b"wrong")
    server.start()
    done = Cli(server.bootstrap, run.directory).run("verify", "users", "--state", "-o", "json")
    assert done.returncode == 1
    differences = json.loads(done.stdout)["tables"][0]["differences"]
    assert {one["what"] for one in differences} == {"the row in the state has other values than the changelog leaves"}
    assert {one["key"] for one in differences} == {f"id={i}" for i in range(5)}


def rewrite_state(snapshot: Path, old: bytes, new: bytes) -> None:
    """Other values in the files of a snapshot, with checksums that fit."""
    from lakeward.records.batch.crc32c import checksum

    told = json.loads((snapshot / "manifest.json").read_bytes())
    told.pop("crc32c")
    for name, facts in told["files"].items():
        content = (snapshot / name).read_bytes().replace(old, new)
        (snapshot / name).write_bytes(content)
        facts["crc32c"] = checksum(content)
    told["crc32c"] = checksum(json.dumps(told, sort_keys=True).encode())
    (snapshot / "manifest.json").write_text(json.dumps(told))


def test_wrong_use_is_refused(server: ServerProcess, database: str, run: Cli) -> None:
    """A name that is not there, a directory in the place of a table, options of the other form."""
    assert "does not exist" in run.run("verify", f"{database}.nothing").stderr
    (run.directory / "data").mkdir()
    assert "say --data-dir data" in run.run("verify", "data").stderr
    assert run.run("verify", "--rate", "5").returncode == 2


def test_letters_and_nothing_tiered_are_no_differences(lake: Warehouse, database: str, run: Cli) -> None:
    """A table that waits for its first round is told so."""
    made = lake.conn.create_table(f"{database}.soon", "id INT", properties=TIERED)
    made.append([{"id": 1}])
    done = run.run("verify", str(made.path), "--warehouse", str(lake.directory), "-o", "json")
    assert done.returncode == 0
    assert "nothing of it is in the lake yet" in done.stdout
