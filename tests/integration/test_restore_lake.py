"""A server is restored whose lake has more than it had copied: nothing of it is lost, and nobody hears of damage."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest
from lost_server import LostServer
from query_reads import rows_of
from tiering_runs import TIERED, Warehouse

from lakeward.query.plan.planner import plan_read
from lakeward.query.request.request import ReadRequest

pytestmark = pytest.mark.slow
LOG, STATE = "fluss.log", "fluss.state"
#: Nothing but the lake gets anything.
NEVER = {
    "remote__log__task_interval_duration": "1h",
    "remote__log__sync": "1h",
    "kv__snapshot__interval": "1h",
}


def rows(first: int, count: int, name: str) -> list[dict[str, Any]]:
    """Some rows."""
    return [{"id": i, "name": f"{name}-{i}"} for i in range(first, first + count)]


@pytest.mark.covering("0")
@pytest.mark.parametrize("tablets", [0, 2])
def test_a_lake_that_is_ahead(tmp_path: Path, tablets: int) -> None:
    """The log goes on behind the lake; rows of a table with a key come back by the command that is told."""
    server = LostServer(tmp_path, {"remote__data__dir": str(tmp_path / "remote"), **NEVER}, tablets=tablets)
    server.process.start()
    lake = Warehouse(server.process.bootstrap, tmp_path / "lake")
    try:
        log = lake.conn.create_table(LOG, "id INT, name STRING", buckets=2, properties=TIERED)
        state = lake.conn.create_table(STATE, "id INT, name STRING", primary_key=["id"], buckets=2, properties=TIERED)
        log.append(rows(0, 300, "log"))
        state.upsert(rows(0, 100, "old"))
        state.delete([{"id": i} for i in range(10)])
        lake.round(log)
        lake.round(state)
        server.wait_until_quiet()
        lake.close()
        server.process.stop()
        found = {one["table"]: one for one in server.come_back()["tables"]}
        assert [(found[name]["lake_rows"], found[name]["lost_rows"]) for name in (LOG, STATE)] == [(300, 0), (110, 0)]
        (told,) = found[STATE]["troubles"]
        lake = Warehouse(server.process.bootstrap, tmp_path / "lake")
        check_rows(lake, dict.fromkeys(range(300)), {i: f"old-{i}" for i in range(10, 100)})
        assert lake.conn.table(LOG).offsets("earliest") == lake.conn.table(LOG).offsets("latest")
        assert "damaged" not in server.process.log_text
        subprocess.run(told.split("`")[1], shell=True, check=True, env=server.command_env())
        lake.conn.table(LOG).append(rows(300, 10, "log"))
        lake.conn.table(STATE).upsert(rows(95, 10, "new"))
        assert lake.conn.table(STATE).lookup([5, 50, 97])["name"].to_pylist() == [None, "old-50", "new-97"]
        want = {i: f"old-{i}" for i in range(10, 95)} | {i: f"new-{i}" for i in range(95, 105)}
        check_rows(lake, dict.fromkeys(range(310)), want)
        server.process.restart(kill=True)
        check_rows(lake, dict.fromkeys(range(310)), want)
        lake.round(lake.conn.table(LOG))
        lake.round(lake.conn.table(STATE))
        check_rows(lake, dict.fromkeys(range(310)), want)
    finally:
        lake.close()
        server.process.kill()


def check_rows(lake: Warehouse, log: dict[int, None], state: dict[int, str]) -> None:
    """Lake and log together are these rows."""
    options = {"lake.warehouse": str(lake.directory)}
    for name, want in ((LOG, sorted(log)), (STATE, sorted(state))):
        request = ReadRequest.of_name(name, options=options)
        found = rows_of(lake.conn, request, plan_read(lake.conn, request))
        assert sorted(found["id"].to_pylist()) == want
    names = dict(zip(found["id"].to_pylist(), found["name"].to_pylist(), strict=True))
    assert names == state
