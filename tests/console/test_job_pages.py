"""The pages of jobs and pipelines, in a browser; what a run writes down is written by the code that a run has."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from browser_fixtures import Sight
from console_process import ConsoleProcess
from playwright.sync_api import expect
from server_process import ServerProcess

from lakeward.pipelines.status import PipelineState, PipelineStatus, TableStatus
from lakeward.runtime.clock import SystemClock
from lakeward.spark.pipelines.run.pipeline_home import PipelineHome
from lakeward.spark.scripts.jobs.job_home import STATE_VARIABLE, JobHome
from lakeward.spark.scripts.jobs.job_record import JobRecord, JobState, StreamProgress, StreamRecord

STATEMENT = "INSERT INTO enriched SELECT * FROM orders /*+ OPTIONS('password'='hunter2') */"
NOW_MS = SystemClock().now_ms()
RUNNING = JobRecord(
    name="enriched-1f2e3d4c",
    state=JobState.RUNNING,
    since_ms=NOW_MS - 3_600_000,
    pid=4711,
    checkpoint="/var/lib/lakeward/enriched",
    script="pipeline.sql",
    streams=(
        StreamRecord(
            sink="shop.enriched",
            text=STATEMENT,
            sources=("shop.orders",),
            state="",
            checkpoint="/var/lib/lakeward/enriched/0",
            progress=StreamProgress(rows=120_000, rows_per_s=850.0, lag_rows=42, lag_ms=1500, batches=12),
        ),
    ),
)
FAILED = replace(
    RUNNING,
    name="mirror-00112233",
    state=JobState.FAILED,
    ended_ms=NOW_MS - 60_000,
    error="The database at jdbc:mysql://ann:hunter2@db/shop does not answer.",
)
PIPELINE = PipelineStatus(
    name="shop-to-fluss",
    state=PipelineState.RUNNING,
    pid=4712,
    since_ms=NOW_MS - 60_000,
    file="pipeline.yaml",
    source="mysql",
    sink="fluss",
    phase="following",
    rows=9000,
    rows_per_s=12.5,
    lag_ms=700,
    tables=(TableStatus(source="shop.orders", target="shop.orders", phase="following", rows=9000, rows_per_s=12.5),),
)


@pytest.fixture(scope="module")
def state(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Where jobs are written down; two of them run, as far as their locks tell."""
    directory = tmp_path_factory.mktemp("state")
    jobs, pipelines = JobHome(directory), PipelineHome(JobHome(directory, "pipelines"))
    jobs.write(RUNNING)
    jobs.write(FAILED)
    jobs.write(replace(RUNNING, name="gone-44556677"))
    pipelines.write(PIPELINE)
    locks = [jobs.lock(RUNNING.name), pipelines.places.lock(PIPELINE.name)]
    yield directory
    for lock in locks:
        assert lock is not None
        os.close(lock)


@pytest.fixture(scope="module")
def console(server: ServerProcess, state: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ConsoleProcess]:
    """A console on the machine of these jobs."""
    log_file = tmp_path_factory.mktemp("console") / "console.log"
    with ConsoleProcess(server.bootstrap, log_file, environment={STATE_VARIABLE: str(state)}) as started:
        yield started


def test_jobs_and_pipelines_are_listed(sight: Sight) -> None:
    """How they are, how far behind, and why one failed; no password is shown."""
    page = sight.go("/jobs")
    running = page.get_by_role("row", name=RUNNING.name).inner_text()
    assert "running" in running
    assert "120 k" in running
    assert "42 rows" in running
    assert "killed" in page.get_by_role("row", name="gone-44556677").inner_text()
    assert "does not answer" in page.get_by_role("row", name=FAILED.name).inner_text()
    assert "mysql → fluss" in page.get_by_role("row", name=PIPELINE.name).inner_text()
    assert "hunter2" not in page.content()
    sight.check_access()
    sight.picture("console-jobs")


def test_a_job_stops_when_that_is_confirmed(sight: Sight, state: Path) -> None:
    """Its process finds word; what was written of a statement is shown without its secrets."""
    page = sight.go("/jobs")
    page.get_by_role("link", name=RUNNING.name).click()
    page.get_by_text("/var/lib/lakeward/enriched").wait_for()
    assert "INSERT INTO enriched" in page.locator(".statement").inner_text()
    assert "hunter2" not in page.content()
    sight.check_access()
    page.get_by_role("link", name="Stop the job …").click()
    assert not JobHome(state).is_asked_to_stop(RUNNING.name)
    page.get_by_role("button", name="Stop the job").click()
    expect(page.get_by_role("status").first).to_contain_text("Asked to stop")
    assert JobHome(state).is_asked_to_stop(RUNNING.name)


def test_a_pipeline_stops_too(sight: Sight, state: Path) -> None:
    """Its tables are shown with what they did."""
    page = sight.go(f"/jobs/job?kind=pipeline&name={PIPELINE.name}")
    assert "following" in page.get_by_role("row", name="shop.orders").inner_text()
    sight.check_access()
    page.get_by_role("link", name="Stop the pipeline …").click()
    page.get_by_role("button", name="Stop the pipeline").click()
    expect(page.get_by_role("status").first).to_contain_text("Asked to stop")
    assert JobHome(state, "pipelines").is_asked_to_stop(PIPELINE.name)


def test_what_does_not_run_cannot_be_stopped(sight: Sight) -> None:
    """And what is not there is 404."""
    page = sight.go(f"/jobs/stop?kind=job&name={FAILED.name}")
    assert page.get_by_text("It is not running: it is failed.").is_visible()
    assert page.get_by_role("button", name="Stop the job").count() == 0
    sight.expected_statuses = {404}
    for name in ("nothing", "../../etc/passwd", ""):
        sight.go(f"/jobs/job?kind=job&name={name}")
        assert page.get_by_role("heading", level=1).inner_text() == "Not there"


def test_a_read_only_console_shows_jobs_and_stops_none(
    server: ServerProcess, state: Path, tmp_path: Path, open_sight: Callable[[str], Sight]
) -> None:
    """Its pages have no buttons, and a form that comes all the same is refused."""
    environment = {STATE_VARIABLE: str(state)}
    with ConsoleProcess(server.bootstrap, tmp_path / "log", "--read-only", environment=environment) as console:
        sight = open_sight(console.url)
        page = sight.go(f"/jobs/job?kind=pipeline&name={PIPELINE.name}")
        assert page.get_by_role("link", name="Stop the pipeline …").count() == 0
        sight.expected_statuses = {403}
        token = page.locator("input[name=form_token]").first
        known = token.get_attribute("value") if token.count() else ""
        answer = page.request.post(
            f"{console.url}/jobs/stop", form={"form_token": known or "", "kind": "pipeline", "name": PIPELINE.name}
        )
        assert answer.status == 403
