"""`lakeward tables compact` on tables that a tiering service writes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from cli_process import Cli
from lake_tables import read_by_duckdb, read_by_pyiceberg
from paimon_readers import read_by_paimon_rust
from server_process import ServerProcess
from tiering_runs import Warehouse

import lakeward

READERS = {"iceberg": (read_by_pyiceberg, read_by_duckdb), "paimon": (read_by_paimon_rust,)}
#: Runs the command, and is killed when its files are written and nobody knows of them yet.
KILLED = """
import os, signal, sys
from lakeward.cli.main import main
from lakeward.lake.iceberg.commit.compaction import CompactionSnapshot
from lakeward.lake.paimon.manifest.commit import Committer
def die(*_): os.kill(os.getpid(), signal.SIGKILL)
CompactionSnapshot.commit = Committer.commit_if_there = die
sys.argv = ["lakeward", *sys.argv[1:]]
main()
"""


@pytest.fixture
def run(server: ServerProcess, tmp_path: Path) -> Cli:
    """The command line."""
    return Cli(server.bootstrap, tmp_path)


@pytest.fixture
def users(lake: Warehouse, database: str, tiered: dict[str, str]) -> lakeward.Table:
    """A primary key table that three rounds have left with files and deletes."""
    made = lake.conn.create_table(
        f"{database}.users", "id INT NOT NULL, name STRING", primary_key="id", buckets=2, properties=tiered
    )
    for number in range(3):
        made.upsert([{"id": key, "name": f"v{number}"} for key in range(6)])
        made.delete([number])
        lake.round(made)
    return made


def seen(lake: Warehouse, table: lakeward.Table) -> list[tuple[Any, ...]]:
    """The rows as readers see them that we did not write."""
    readers = READERS[table.info.descriptor.properties["table.datalake.format"]]
    answers = [sorted((r["id"], r["name"]) for r in read(lake.directory, str(table.path))) for read in readers]
    assert all(answer == answers[0] for answer in answers)
    return answers[0]


@pytest.mark.covering("paimon")
def test_a_table_is_compacted_and_tiering_goes_on(lake: Warehouse, users: lakeward.Table, run: Cli) -> None:
    """What a dry run promises is done; rows are the same before and after, and each change after that counts once."""
    name, before = str(users.path), seen(lake, users)
    planned = run.document("tables", "compact", name, "--dry-run")["lake"]
    assert planned["snapshot"] is None
    assert planned["files_before"] > planned["files_after"]
    done = run.document("tables", "compact", name)["lake"]
    assert done["files_before"] == planned["files_before"]
    assert done["files_after"] == 2
    assert done["snapshot"] is not None
    assert seen(lake, users) == before == [(0, "v2"), (1, "v2"), (3, "v2"), (4, "v2"), (5, "v2")]
    assert run.document("tables", "compact", name)["lake"]["files_before"] == 0
    told = run.run("tables", "compact", name)
    assert "nothing to do" in told.stdout
    assert "table.log.compaction.enabled=true" in told.stderr
    users.upsert([{"id": 2, "name": "back"}, {"id": 3, "name": "new"}])
    users.delete([4])
    assert lake.round(users).snapshot_id is not None
    assert seen(lake, users) == [(0, "v2"), (1, "v2"), (2, "back"), (3, "new"), (5, "v2")]
    assert users.query("SELECT count(*) AS n FROM t")["n"].to_pylist() == [5]


@pytest.mark.covering("iceberg")
def test_a_kill_in_the_middle_leaves_the_table_as_it_was(lake: Warehouse, users: lakeward.Table, run: Cli) -> None:
    """Nothing but files that nobody knows is left, and `lake clean` takes them away."""
    name, before = str(users.path), seen(lake, users)
    command = [sys.executable, "-c", KILLED, "tables", "compact", name]
    killed = subprocess.run(command, env={**os.environ, "LAKEWARD_SERVER": lake.bootstrap}, capture_output=True)
    assert killed.returncode == -signal.SIGKILL, killed.stderr.decode()
    assert seen(lake, users) == before
    left = run.document("lake", "clean", name, "--older-than", "0s", "--yes")["files"]
    assert len(left) >= 2
    assert seen(lake, users) == before
    users.upsert([{"id": 9, "name": "after"}])
    lake.round(users)
    run.ok("tables", "compact", name)
    assert seen(lake, users) == [*before, (9, "after")]


@pytest.mark.covering("iceberg")
def test_what_a_dropped_table_left_is_removed_for_its_successor(
    lake: Warehouse, users: lakeward.Table, run: Cli, tiered: dict[str, str]
) -> None:
    """A table of the same name is tiered from then on; what is its own is not removed."""
    name = str(users.path)
    refused = run.run("lake", "drop", name, "--yes")
    assert refused.returncode == 1
    assert f"`lakeward tables drop {name}`" in refused.stderr
    lake.conn.drop_table(name)
    again = lake.conn.create_table(name, "id STRING, name INT", properties=tiered)
    again.append([{"id": "x", "name": 7}])
    with pytest.raises(lakeward.LakewardError, match=f"`lakeward lake drop {name}` removes it"):
        lake.round(again)
    assert "gone from the lake" in run.run("lake", "drop", name, "--yes").stderr
    assert run.run("lake", "drop", name, "--yes").returncode == 1
    assert lake.round(again).rows == 1
    assert seen(lake, again) == [("x", 7)]
    assert run.run("lake", "drop", name, "--yes").returncode == 1


def test_a_table_without_a_lake_is_told_what_becomes_of_its_log(server: ServerProcess, database: str, run: Cli) -> None:
    """There is nothing to rewrite; a table that is to be tiered and was not yet is an error."""
    with lakeward.connect(server.bootstrap) as conn:
        conn.create_table(f"{database}.plain", "id INT")
        conn.create_table(f"{database}.soon", "id INT", properties={"table.datalake.enabled": "true"})
    done = run.run("tables", "compact", f"{database}.plain")
    assert done.returncode == 0
    assert "not tiered" in done.stdout
    assert "each row of a log table counts" in done.stderr
    refused = run.run("tables", "compact", f"{database}.soon", "--warehouse", str(run.directory / "lake"))
    assert refused.returncode == 1
    assert "in the lake yet" in refused.stderr
