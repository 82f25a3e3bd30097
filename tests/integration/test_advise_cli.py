"""`lakeward tables advise` on real tables: skewed, cut too small, never expiring, and fine."""

from __future__ import annotations

from pathlib import Path

import pytest
from cli_process import Cli
from server_process import ServerProcess
from tiering_runs import Warehouse

import lakeward


@pytest.fixture
def run(server: ServerProcess, tmp_path: Path) -> Cli:
    """The command line."""
    return Cli(server.bootstrap, tmp_path)


def test_tables_are_advised_by_their_own_figures(server: ServerProcess, database: str, run: Cli) -> None:
    """Each as it is; the fine one is left alone, and figures are told beside."""
    with lakeward.connect(server.bootstrap) as conn:
        skewed = conn.create_table(f"{database}.skewed", "id INT, kind STRING", bucket_by=["kind"], buckets=4)
        skewed.append([{"id": i, "kind": "most" if i % 10 else f"k{i}"} for i in range(2000)])
        small = conn.create_table(f"{database}.small", "id INT", buckets=48, bucket_by=["id"])
        small.append([{"id": i} for i in range(1500)])
        conn.create_table(f"{database}.ever", "id INT", properties={"table.log.ttl": "0 ms"}).append([{"id": 1}])
        fine = conn.create_table(f"{database}.fine", "id INT NOT NULL, n INT", primary_key="id", buckets=2)
        for number in range(2):
            fine.upsert([{"id": i, "n": number} for i in range(1200)])
    told = {
        name: run.document("tables", "advise", f"{database}.{name}")[0] for name in ("skewed", "small", "ever", "fine")
    }
    rules = {name: [one["rule"] for one in node["advice"]] for name, node in told.items()}
    assert rules == {"skewed": ["skew"], "small": ["many small buckets"], "ever": ["never expires"], "fine": []}
    figures = told["skewed"]["figures"]
    assert figures["log_rows"] == 2000
    assert figures["skew"] > 3
    assert figures["rows_per_s_now"] == pytest.approx(2000 / 60)
    assert figures["row_bytes"] > 1
    assert told["skewed"]["advice"][0]["advice"] == "bucket by id"
    assert told["fine"]["figures"]["update_share"] == pytest.approx(0.5)
    shown = run.run("tables", "advise", f"{database}.ever", f"{database}.fine")
    assert shown.returncode == 0
    assert f"lakeward tables alter {database}.ever --set table.log.ttl=7d" in shown.stdout
    assert "Nothing to change." in shown.stdout
    assert "times an average one" in shown.stdout


def test_a_lake_of_small_files_is_told(lake: Warehouse, database: str, tiered: dict[str, str], run: Cli) -> None:
    """Its files and snapshots are figures; partitions and empty tables are no trouble."""
    made = lake.conn.create_table(f"{database}.tiered", "id INT", properties=tiered, buckets=1)
    for number in range(2):
        made.append([{"id": number}])
        lake.round(made)
    (told,) = run.document("tables", "advise", f"{database}.tiered")
    assert told["figures"]["lake_files"] == 2
    assert told["figures"]["lake_snapshots"] == 2
    assert told["figures"]["lake_lag_rows"] == 0
    days = lake.conn.create_table(f"{database}.days", "id INT, dt STRING", partition_by=["dt"], buckets=1)
    days.create_partition({"dt": "2026-11-18"})
    days.create_partition({"dt": "2026-11-19"})
    (told,) = run.document("tables", "advise", f"{database}.days")
    assert told["figures"]["partition_count"] == 2
    assert [one["rule"] for one in told["advice"]] == ["partitions that stay"]
    assert run.run("tables", "advise", f"{database}.none").returncode == 1
