"""`lakeward run`, as a person runs it: a process, a script, signals, and what is left afterwards."""

from __future__ import annotations

import signal
from pathlib import Path

import psutil
import pytest
from cli_process import Cli
from eventually import eventually
from script_runs import Runs, end, read_until
from server_process import ServerProcess

import lakeward as lw

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]


@pytest.fixture
def runs(server: ServerProcess, conn: lw.Connection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Runs:
    """Runs against the server of these tests."""
    return Runs(Cli(server.bootstrap, tmp_path), conn, monkeypatch)


def test_rows_go_to_stdout_and_nothing_else_does(runs: Runs) -> None:
    """From a text, from stdin and from a file; as JSON and as CSV."""
    text = runs.table("t") + "INSERT INTO t VALUES (2, 20), (1, 10);\nSELECT id, n FROM t ORDER BY id"
    done = runs.run("-e", text, "-o", "json")
    assert (done.returncode, done.stdout) == (0, '{"id": 1, "n": 10}\n{"id": 2, "n": 20}\n')
    assert [line[:3] for line in done.stderr.splitlines()] == ["[1]", "[2]", "[3]"]
    done = runs.run("-", "-o", "csv", stdin=runs.table("t") + "SELECT n FROM t WHERE id = 2;")
    assert (done.returncode, done.stdout) == (0, "n\n20\n")
    assert not list((runs.directory / "state" / "logs").iterdir())


@pytest.mark.long
def test_an_error_points_at_its_place_and_what_was_before_it_stands(runs: Runs) -> None:
    """Streams that were started are stopped; the exit code is 1; a secret on the line is not shown."""
    script = runs.script(
        runs.table("a")
        + runs.table("b")
        + "INSERT INTO a VALUES (1, 10);\n"
        + "SET 'pipeline.name' = 'copy';\n"
        + "INSERT INTO b SELECT id, n FROM a;\n"
        + "SELECT count(*) AS c FROM a;\n"
        + "SELECT id, nme FROM a /*+ OPTIONS('lake.s3.secret-access-key' = 'hush') */;\n"
        + "INSERT INTO a VALUES (2, 20);\n"
    )
    done = runs.run(script, "-o", "json")
    assert (done.returncode, done.stdout) == (1, '{"c": 1}\n')
    errors = done.stderr[done.stderr.index("Error") :].splitlines()
    assert errors[0].startswith("Error: Line 7, column 12: ")
    assert "nme" in errors[0]
    assert errors[1].startswith("  SELECT id, nme FROM a")
    assert errors[2] == " " * 13 + "^"
    assert "hush" not in done.stderr
    assert "Traceback" not in done.stderr
    assert runs.rows("a") == [(1, 10)]
    assert runs.jobs()["copy"]["state"] == "stopped"


def test_a_script_goes_on_where_it_was(runs: Runs) -> None:
    """After Ctrl-C and after SIGTERM; two runs at once are refused; one job can be stopped by its name."""
    script = runs.script(
        runs.table("a")
        + runs.table("b")
        + runs.table("c")
        + "INSERT INTO b SELECT id, n FROM a;\nSET 'pipeline.name' = 'doubled';\nINSERT INTO c SELECT id, n * 2 FROM a;"
    )
    process = runs.start(script)
    said = read_until(process, "doubled: ")
    runs.append("a", 0, 100)
    said += read_until(process, "doubled: 100 rows")
    assert "job b-" in said
    second = runs.run(script)
    assert second.returncode == 1
    assert f"is running already, in process {process.pid} since " in second.stderr
    runs.ask("jobs", "stop", "doubled")
    read_until(process, "Job doubled is stopped: 100 rows in this run.")
    code, said = end(process, signal.SIGINT)
    assert (code, "Stopping after the micro-batches under way" in said) == (130, True)
    assert {job["state"] for job in runs.jobs().values()} == {"stopped"}
    runs.append("a", 100, 50)
    process = runs.start(script)
    assert "job doubled goes on where it was" in read_until(process, "doubled: 50 rows")
    code, _ = end(process, signal.SIGTERM)
    assert code == 0
    assert runs.rows("b") == [(i, 10 * i) for i in range(150)]
    assert runs.rows("c") == [(i, 20 * i) for i in range(150)]


@pytest.mark.long
def test_a_job_that_fails_leaves_the_others_alone(runs: Runs) -> None:
    """Its error is a sentence; the process goes on with the other job, and its exit code is 1 in the end."""
    script = runs.script(
        runs.table("a")
        + runs.table("b")
        + runs.table("c")
        + "SET 'pipeline.name' = 'bad';\nINSERT INTO b SELECT id, n / (id - 3) FROM a;\n"
        + "SET 'pipeline.name' = 'good';\nINSERT INTO c SELECT id, n FROM a;"
    )
    process = runs.start(script)
    read_until(process, "good: ")
    runs.append("a", 0, 10)
    said = read_until(process, "Job bad failed: ")
    sentence = next(line for line in said.splitlines() if line.startswith("Job bad failed: "))
    assert "Division by zero" in sentence
    assert "Query [id" not in said
    assert "Traceback" not in said
    read_until(process, "good: 10 rows")
    runs.ask("jobs", "stop", "good")
    _, said = process.communicate(timeout=120)
    assert process.returncode == 1
    assert "Job good is stopped: 10 rows in this run." in said
    states = {name: (job["state"], job["error"] is not None) for name, job in runs.jobs().items()}
    assert states == {"bad": ("failed", True), "good": ("stopped", False)}
    assert runs.rows("c") == [(i, 10 * i) for i in range(10)]


@pytest.mark.covering("130")
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 0)])
def test_a_signal_while_spark_starts_ends_it_at_once(runs: Runs, number: int, code: int) -> None:
    """Nothing is left running, and nothing is said but that."""
    process = runs.start("-e", "SELECT 1")
    assert eventually(lambda: psutil.Process(process.pid).children())
    assert end(process, number) == (code, "Stopped before it began.\n")


def test_what_cannot_be_run_is_said_before_spark_starts(runs: Runs) -> None:
    """A file that is not there, no file at all, both; a mistake in the first statement, and nothing to run."""
    assert "nowhere.sql: No such file" in runs.run("nowhere.sql").stderr
    for arguments in ((), ("a.sql", "-e", "SELECT 1")):
        done = runs.run(*arguments)
        assert (done.returncode, "Name a file" in done.stderr) == (2, True)
    nowhere = ("-D", "spark.master=nonsense")  # with which no Spark starts
    done = runs.run("-e", "SELEC 1", *nowhere)
    assert (done.returncode, "Did you mean SELECT?" in done.stderr) == (1, True)
    done = runs.run("-e", "-- only words", *nowhere)
    assert (done.returncode, done.stderr) == (0, "There is no statement to run.\n")


@pytest.mark.long
def test_a_home_that_cannot_be_written_is_told(runs: Runs, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before a stream begins; with the place, and where else it could be."""
    (runs.directory / "file").write_text("")
    monkeypatch.setenv("LAKEWARD_STATE", str(runs.directory / "file"))
    done = runs.run("-e", runs.table("a") + runs.table("b") + "INSERT INTO b SELECT * FROM a;")
    assert done.returncode == 1
    assert f"{runs.directory}/file/jobs: " in done.stderr
    assert "LAKEWARD_STATE" in done.stderr
    assert [path.name for path in runs.directory.iterdir()] == ["file"]
