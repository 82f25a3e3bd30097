"""`lakeward run` where things go wrong around it: the server, the disk, the terminal."""

from __future__ import annotations

import signal
from collections.abc import Callable
from pathlib import Path

import pytest
from cli_process import Cli
from eventually import eventually
from script_runs import FAST, Runs, end, read_until
from server_process import ServerProcess
from small_disk import small_disk
from terminal import CTRL_C, Terminal

import lakeward as lw

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]
COPY = "SET 'pipeline.name' = 'copy';\nINSERT INTO b SELECT id, n FROM a;\n"


@pytest.mark.long
def test_a_server_that_comes_back_finds_its_jobs_waiting(
    new_server: Callable[..., ServerProcess], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The job says once that it waits, goes on when the server is there, and has every row once."""
    server = new_server()
    with lw.connect(server.bootstrap) as conn:
        runs = Runs(Cli(server.bootstrap, tmp_path), conn, monkeypatch)
        process = runs.start(runs.script(runs.table("a") + runs.table("b") + COPY))
        read_until(process, "copy: ")
        runs.append("a", 0, 100)
        read_until(process, "copy: 100 rows")
        server.kill()
        said = read_until(process, "Waiting for it")
        assert "Traceback" not in said
        server.start()
        runs.append("a", 100, 50)
        read_until(process, "copy: 150 rows")
        assert end(process, signal.SIGTERM)[0] == 0
        assert runs.rows("b") == [(i, 10 * i) for i in range(150)]


@pytest.mark.long
def test_a_full_disk_fails_the_job_and_room_lets_it_go_on(
    server: ServerProcess, conn: lw.Connection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The error says that the disk is full; what was written before stays, nothing is written twice."""
    runs = Runs(Cli(server.bootstrap, tmp_path), conn, monkeypatch)
    with small_disk(tmp_path / "small") as disk:
        monkeypatch.setenv("LAKEWARD_STATE", str(disk.path))
        script = runs.script(runs.table("a") + runs.table("b") + COPY)
        process = runs.start(script)
        read_until(process, "copy: ")
        runs.append("a", 0, 100)
        read_until(process, "copy: 100 rows")
        disk.fill()
        runs.append("a", 100, 50)
        said = read_until(process, "Job copy failed: ")
        assert "No space left on device" in said.splitlines()[-1]
        process.communicate(timeout=120)
        assert process.returncode == 1
        disk.make_room()
        process = runs.start(script)
        read_until(process, "copy: 50 rows")
        assert end(process, signal.SIGTERM)[0] == 0
    assert runs.rows("b") == [(i, 10 * i) for i in range(150)]


@pytest.mark.long
def test_in_a_terminal_progress_stays_in_its_place(
    server: ServerProcess, conn: lw.Connection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The line is drawn again over itself; Ctrl-C lets the batch finish, and nothing is left running."""
    runs = Runs(Cli(server.bootstrap, tmp_path), conn, monkeypatch)
    script = runs.script(runs.table("a") + runs.table("b") + COPY)
    environment = {"LAKEWARD_SERVER": server.bootstrap, "LAKEWARD_STATE": str(tmp_path / "state")}
    with Terminal("run", script, "--watch", *FAST, directory=tmp_path, **environment) as terminal:
        assert terminal.wait_until(lambda text: "BATCHES" in text, within_s=200), terminal.text
        runs.append("a", 0, 1234)
        assert terminal.wait_until(lambda text: "1,234" in text), terminal.text
        assert "\x1b[1A" in terminal.text
        terminal.press(CTRL_C)
        assert terminal.ended() == 130
        assert "Job copy is stopped: 1,234 rows in this run." in terminal.text
        assert eventually(lambda: not terminal.left())
