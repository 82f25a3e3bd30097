"""Tiering at a damaged segment, from end to end: one bucket stops and says why, after a repair it goes on."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from cli_process import Cli
from click.testing import CliRunner
from damage import flip
from eventually import eventually
from lake_tables import read_by_pyiceberg
from pyiceberg.exceptions import NoSuchTableError
from server_process import ServerProcess
from tiering_runs import TIERED

import lakeward
from lakeward.cli.main import cli

pytestmark = pytest.mark.slow
ROWS = 120


def _written(server: ServerProcess) -> None:
    """A log table of two buckets, one with a primary key, and one that nothing will happen to."""
    columns = {"id": "INT NOT NULL", "name": "STRING"}
    with lakeward.connect(server.bootstrap) as conn:
        conn.create_database("d")
        log = conn.create_table("d.log", columns, buckets=2, bucket_by=["id"], properties=TIERED)
        keyed = conn.create_table("d.keyed", columns, primary_key=["id"], buckets=1, properties=TIERED)
        whole = conn.create_table("d.whole", columns, buckets=1, properties=TIERED)
        for first in range(0, ROWS, 10):
            rows = [{"id": number, "name": f"row {number}"} for number in range(first, first + 10)]
            log.append(rows)
            keyed.upsert(rows)
            whole.append(rows)


def _ids(lake: Path, table: str) -> set[int]:
    if not list(lake.glob(f"{table.replace('.', '/')}/metadata/*.json")):
        return set()  # pyiceberg would make a catalog where there is none yet, while the service makes it
    try:
        return {row["id"] for row in read_by_pyiceberg(lake, table)}
    except NoSuchTableError:
        return set()


def _words_of(service: subprocess.Popen[str]) -> str:
    """What a service said that does not do what it should."""
    service.terminate()
    return "\n".join(service.communicate(timeout=60))


def _status(typed: Cli) -> dict[str, dict[str, Any]]:
    return {row["table"]: row for row in typed.document("tier", "status")}


def test_a_bucket_stops_with_an_error_and_goes_on_after_a_repair(tmp_path: Path) -> None:
    """Other buckets and tables are in the lake all the time; what was given up is told, and all else arrives."""
    options = {"log__segment__file_size": "1kb", "kv__snapshot__interval": "1h"}
    lake = tmp_path / "lake"
    with ServerProcess(tmp_path / "data", **options) as server:
        _written(server)
        server.stop()
        for table in ("log", "keyed"):
            segments = sorted(server.data_dir.glob(f"d/{table}-*/log-0/*.log"))
            assert len(segments) > 2
            flip(segments[1], segments[1].stat().st_size - 5)
        server.start()
        typed = Cli(server.bootstrap, tmp_path)
        service = typed.start("tier", "--warehouse", "lake", "--engine", "local", "--metrics-port", "0")
        try:
            assert eventually(lambda: _ids(lake, "d.whole") == set(range(ROWS)), within_s=250), _words_of(service)
            for table in ("d.log", "d.keyed"):
                assert eventually(
                    lambda table=table: "lakeward repair" in str(_status(typed)[table]["reason"]), within_s=250
                )
            assert _status(typed)["d.whole"]["reason"] is None
        finally:
            service.terminate()
            service.wait(60)
        server.stop()
        told = CliRunner().invoke(cli, ["verify", "--data-dir", str(server.data_dir), "-o", "json"])
        damaged = json.loads(told.stdout)["damaged"]
        assert {one["table"] for one in damaged} == {"d.log", "d.keyed"}
        for one in damaged:
            assert CliRunner().invoke(cli, one["remedy"].split()[1:]).exit_code == 0
        server.start()
        lost = {one["table"]: one["end"] - one["first"] for one in damaged}
        service = typed.start("tier", "--warehouse", "lake", "--engine", "local", "--metrics-port", "0")
        try:
            for table in ("d.log", "d.keyed"):
                assert eventually(lambda table=table: len(_ids(lake, table)) == ROWS - lost[table], within_s=250)
                assert eventually(lambda table=table: _status(typed)[table]["lag_rows"] == 0, within_s=250)
        finally:
            service.terminate()
            _, said = service.communicate(timeout=60)
        assert "not in the log" in said
