"""lakeward pipeline: what needs neither Spark nor a network."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from click.testing import CliRunner
from guide_pipeline import GUIDE_PIPELINE

from lakeward.cli.main import cli
from lakeward.pipelines.status import PipelineState, PipelineStatus, TableStatus
from lakeward.spark.pipelines.run.pipeline_home import PipelineHome


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> PipelineHome:
    """A home of the test's own."""
    monkeypatch.setenv("LAKEWARD_STATE", str(tmp_path / "state"))
    return PipelineHome.of_environment()


def _status(state: PipelineState, **more: object) -> PipelineStatus:
    table = TableStatus(source="mydb.users", target="analytics.users", phase="streaming", rows=7, lag_ms=1500)
    given = {"since_ms": 0, "file": "p.yaml", "source": "mysql", "sink": "fluss", "tables": (table,), "rows": 7}
    return PipelineStatus(name="shop", state=state, pid=os.getpid(), **{**given, **more})  # type: ignore[arg-type]


def test_a_valid_file_is_told_so(tmp_path: Path) -> None:
    """With the names of its pipelines."""
    (tmp_path / "p.yaml").write_text(GUIDE_PIPELINE)
    done = CliRunner().invoke(cli, ["pipeline", "validate", str(tmp_path / "p.yaml")])
    assert done.exit_code == 0
    assert "mysql-to-fluss: mysql → fluss" in done.output


@pytest.mark.parametrize("verb", ["validate", "run", "plan"])
def test_mistakes_are_told_with_their_lines_before_anything_starts(tmp_path: Path, verb: str) -> None:
    """Every one of every file; the exit code says no."""
    (tmp_path / "a.yaml").write_text(GUIDE_PIPELINE.replace("hostname", "hostnam"))
    (tmp_path / "b.yaml").write_text("source:\n\ttype: x\n")
    done = CliRunner().invoke(cli, ["pipeline", verb, str(tmp_path / "a.yaml"), str(tmp_path / "b.yaml")])
    assert done.exit_code == 1
    assert "a.yaml:4:3: 'source' has no 'hostnam'. Did you mean 'hostname'?" in done.output
    assert "b.yaml:2:1: this is not YAML: a tab cannot indent YAML" in done.output
    assert "Traceback" not in done.output


def test_a_missing_file_is_one_sentence(tmp_path: Path) -> None:
    """It does not hide the mistakes of other files."""
    (tmp_path / "a.yaml").write_text(GUIDE_PIPELINE.replace("hostname", "hostnam"))
    (tmp_path / "b.yaml").write_bytes(b"source:\n  type: \xff\n")
    done = CliRunner().invoke(cli, ["pipeline", "validate", *(str(tmp_path / f"{x}.yaml") for x in ("none", "a", "b"))])
    assert done.exit_code == 1
    assert "none.yaml: No such file or directory" in done.output
    assert "a.yaml:4:3: 'source' has no 'hostnam'." in done.output
    assert "b.yaml:2:9: this is not UTF-8" in done.output


def test_what_would_be_refused_later_is_a_mistake(tmp_path: Path) -> None:
    """A mode that nothing can do, a name that is no folder, an empty expression."""
    (tmp_path / "p.yaml").write_text(
        "source: {type: postgres, hostname: h, username: u, database-name: d, tables: public.a,\n"
        "  scan.startup.mode: earliest-offset}\n"
        "sink: {type: print}\n"
        "transform: [{source-table: public.a, projection: 'id, , amount'}]\n"
        "pipeline: {name: a/b}\n"
    )
    done = CliRunner().invoke(cli, ["pipeline", "validate", str(tmp_path / "p.yaml")])
    assert done.exit_code == 1
    assert "p.yaml:2:22: 'scan.startup.mode' is 'earliest-offset'; expected one of initial, snapshot, " in done.output
    assert "p.yaml:4:55: 'projection': expected something before ','" in done.output
    assert "p.yaml:5:18: 'name': 'a/b' is no name for a pipeline" in done.output


def test_status_of_another_process(home: PipelineHome) -> None:
    """Read from the home: all pipelines, or one with its tables; one whose process is gone was killed."""
    assert "No pipeline has been run here." in CliRunner().invoke(cli, ["pipeline", "status"]).output
    home.write(_status(PipelineState.FAILED, error="why", restarts=2))
    done = CliRunner().invoke(cli, ["pipeline", "status"])
    assert done.exit_code == 0
    assert "failed" in done.output
    assert "why" in done.output
    one = json.loads(CliRunner().invoke(cli, ["pipeline", "status", "shop", "-o", "json"]).output)
    assert (one["restarts"], one["tables"][0]["lag_ms"]) == (2, 1500)
    home.write(_status(PipelineState.RUNNING))
    assert "killed" in CliRunner().invoke(cli, ["pipeline", "status", "shop"]).output


def test_stop_and_drop_know_what_they_may(home: PipelineHome) -> None:
    """An unknown name is guessed at; what does not run need not be stopped; what runs is not dropped."""
    home.write(_status(PipelineState.STOPPED))
    done = CliRunner().invoke(cli, ["pipeline", "stop", "shpo"])
    assert done.exit_code == 1
    assert "Did you mean shop?" in done.output
    assert "is not running: it is stopped" in CliRunner().invoke(cli, ["pipeline", "stop", "shop"]).output
    lock = home.places.lock("shop")
    assert lock is not None
    done = CliRunner().invoke(cli, ["pipeline", "drop", "shop", "--yes"])
    os.close(lock)
    assert done.exit_code == 1
    assert "Pipeline shop is running" in done.output
