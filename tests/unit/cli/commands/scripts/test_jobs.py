"""lakeward jobs: list, show, stop and drop, on records that tests leave."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from eventually import eventually
from fake_query import FakeStreams

from lakeward.cli.main import cli
from lakeward.spark.scripts.jobs.job_home import JobHome
from lakeward.spark.scripts.jobs.jobs import Jobs


@pytest.fixture
def home(tmp_path: Path) -> JobHome:
    """A home of jobs of the test's own."""
    return JobHome(tmp_path)


@pytest.fixture
def streams() -> FakeStreams:
    """Plans of streams that pretend."""
    return FakeStreams()


def ask(home: Path, *words: str) -> Result:
    """Run `lakeward jobs …`."""
    return CliRunner().invoke(cli, ["jobs", *words], env={"LAKEWARD_STATE": str(home)})


def test_no_jobs_is_said(tmp_path: Path) -> None:
    """A person sees a sentence, a program an empty list."""
    assert "No jobs yet" in ask(tmp_path, "list").stderr
    assert json.loads(ask(tmp_path, "list", "-o", "json").stdout) == []


def test_a_list_tells_what_became_of_each(home: JobHome, streams: FakeStreams, tmp_path: Path) -> None:
    """Running, stopped, failed, killed; rows, lag and why."""
    jobs = Jobs(home)
    names = ("failed", "killed", "running", "stopped")
    started = {name: jobs.start([streams.plan()], name=name, script="/a.sql") for name in names}
    streams.queries["failed"].report(0, 1234, sources=[{"metrics": {"rowsBehind": "5", "lagMs": "1"}}])
    streams.queries["failed"].fail("The disk is full.")
    started["stopped"].stop()
    assert eventually(lambda: not home.is_held("failed"))
    os.close(started["killed"]._descriptor)  # what kill -9 does
    listed = {row["name"]: row for row in json.loads(ask(tmp_path, "list", "-o", "json").stdout)}
    assert {name: row["state"] for name, row in listed.items()} == {name: name for name in names}
    failed = listed["failed"]
    assert (failed["rows"], failed["lag_rows"], failed["error"]) == (1234, 5, "The disk is full.")
    assert (failed["script"], failed["sinks"]) == ("/a.sql", ["default_catalog.shop.copies"])
    shown = ask(tmp_path, "list").stdout.splitlines()
    assert [line.split()[:2] for line in shown[1:]] == [[name, name] for name in names]
    assert "1,234" in shown[1]


def test_show_tells_statement_and_checkpoint(home: JobHome, streams: FakeStreams, tmp_path: Path) -> None:
    """What it is, where it is, and how far."""
    job = Jobs(home).start([streams.plan(state="COUNT by id")], name="copy", script=None)
    shown = ask(tmp_path, "show", "copy").stdout
    for part in ("running", job.checkpoint, "COUNT by id", "INSERT INTO copies SELECT * FROM orders", "0 rows"):
        assert part in shown
    job.stop()
    assert json.loads(ask(tmp_path, "show", "copy", "-o", "json").stdout)["state"] == "stopped"


def test_a_name_that_is_nearly_right_is_guessed(home: JobHome, streams: FakeStreams, tmp_path: Path) -> None:
    """And not acted on."""
    Jobs(home).start([streams.plan()], name="enriched", script=None).stop()
    for verb in ("show", "stop", "drop"):
        result = ask(tmp_path, verb, "enrichd")
        assert result.exit_code == 1
        assert "There is no job 'enrichd' on this machine. Did you mean 'enriched'?" in result.stderr


def test_stop_stops_one_job_of_a_process(home: JobHome, streams: FakeStreams, tmp_path: Path) -> None:
    """It waits for it; others go on; a second time there is nothing to stop."""
    jobs = Jobs(home)
    _, two = (jobs.start([streams.plan()], name=name, script=None) for name in ("one", "two"))
    result = ask(tmp_path, "stop", "one")
    assert (result.exit_code, result.stderr) == (0, "one is stopped.\n")
    assert jobs.running == [two]
    again = ask(tmp_path, "stop", "one")
    assert (again.exit_code, "is not running: it is stopped" in again.stderr) == (1, True)


def test_stop_does_not_wait_for_ever(home: JobHome, tmp_path: Path, streams: FakeStreams) -> None:
    """It says that the job was told, and which process it is in."""
    Jobs(home).start([streams.plan()], name="slow", script=None)
    streams.queries["slow"].is_busy = True
    result = ask(tmp_path, "stop", "slow", "--timeout", "0.2")
    assert result.exit_code == 1
    assert "has not stopped within 0.2 s; it was told to" in result.stderr
    assert str(os.getpid()) in result.stderr
    streams.queries["slow"].is_busy = False


def test_drop_asks_first_and_leaves_running_jobs_alone(home: JobHome, streams: FakeStreams, tmp_path: Path) -> None:
    """A checkpoint is not forgotten by mistake."""
    job = Jobs(home).start([streams.plan()], name="copy", script=None)
    running = ask(tmp_path, "drop", "copy", "--yes")
    assert (running.exit_code, "is running: stop it first" in running.stderr) == (1, True)
    job.stop()
    assert ask(tmp_path, "drop", "copy").exit_code == 2
    assert home.read("copy") is not None
    assert ask(tmp_path, "drop", "copy", "--yes").exit_code == 0
    assert home.read("copy") is None
    assert not Jobs(home).start([streams.plan()], name="copy", script=None).is_continued


def test_a_record_that_cannot_be_read_hides_no_other(home: JobHome, streams: FakeStreams, tmp_path: Path) -> None:
    """It is told of beside the list."""
    for name in ("one", "two"):
        Jobs(home).start([streams.plan()], name=name, script=None).stop()
    (home.folder("one") / "record.json").write_text("")
    result = ask(tmp_path, "list")
    assert result.exit_code == 0
    assert "two" in result.stdout
    assert "one/record.json: the record of a job cannot be read" in result.stderr
