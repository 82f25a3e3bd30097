"""Beginnings and ends: whatever moment and manner a command is ended in, it ends, and nothing of it stays."""

from __future__ import annotations

import signal
import time
from pathlib import Path

import pytest
from cli_process import Cli
from eventually import eventually
from server_process import ServerProcess
from terminal import CTRL_C, Terminal

pytestmark = pytest.mark.slow
_DEMO = ("demo", "--data-dir", "demo", "--port", "0", "--engine")
_MOMENTS_S = (0.5, 1.0, 2.0, 4.0)


@pytest.mark.long
@pytest.mark.timeout(240)
@pytest.mark.parametrize("engine", ["local", "spark"])
def test_the_demo_ends_whenever_ctrl_c_comes(tmp_path: Path, engine: str) -> None:
    """Before the server is up, before Spark is up, and once or twice: no hang, no trace, nothing left."""
    for moment_s in _MOMENTS_S:
        for times in (1, 2):
            with Terminal(*_DEMO, engine, directory=tmp_path) as terminal:
                time.sleep(moment_s)
                for _ in range(times):
                    terminal.press(CTRL_C)
                assert terminal.ended() in {0, 130}, terminal.text
                assert "Traceback" not in terminal.text
                assert eventually(lambda: not terminal.left()), terminal.left()


@pytest.mark.covering("killed")
@pytest.mark.parametrize("how", ["closed", "killed"])
def test_a_demo_that_vanished_leaves_nothing_and_the_next_one_goes_on(tmp_path: Path, how: str) -> None:
    """Its window is closed, or it gets kill -9: the server goes too, and the same directory can be used at once."""
    with Terminal(*_DEMO, "local", directory=tmp_path) as terminal:
        assert terminal.wait_until(lambda text: "delay ms" in text), terminal.text
        if how == "closed":
            terminal.close()
        else:
            terminal.signal(signal.SIGKILL)
        terminal.ended()
        with Terminal(*_DEMO, "none", "--limit", "3", directory=tmp_path) as second:
            assert second.ended() == 0, second.text
        assert eventually(lambda: not terminal.left()), terminal.left()


@pytest.mark.covering("130")
@pytest.mark.timeout(240)
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 0)])
def test_a_service_ends_before_spark_is_up(server: ServerProcess, tmp_path: Path, number: int, code: int) -> None:
    """It says that it never began, and no JVM stays to complain over the prompt."""
    command = ("tier", "-s", server.bootstrap, "--warehouse", "lake")
    with Terminal(*command, directory=tmp_path) as terminal:
        assert eventually(lambda: terminal.runs("java"))
        time.sleep(0.3)
        terminal.signal_group(number)
        assert terminal.ended() == code, terminal.text
        assert "Stopped before it began." in terminal.text
        assert "Exception" not in terminal.text
        assert eventually(lambda: not terminal.left()), terminal.left()


@pytest.mark.long
@pytest.mark.timeout(240)
def test_a_signal_to_the_whole_group_ends_a_service_in_order(server: ServerProcess, tmp_path: Path) -> None:
    """Spark is there until the last round has ended: nothing is refused meanwhile."""
    command = ("tier", "-s", server.bootstrap, "--warehouse", "lake")
    with Terminal(*command, directory=tmp_path) as terminal:
        assert terminal.wait_until(lambda text: "are tiered into" in text, within_s=120), terminal.text
        terminal.signal_group(signal.SIGTERM)
        assert terminal.ended() == 0, terminal.text
        assert "Stopped; every round is finished." in terminal.text
        assert "refused" not in terminal.text
        assert eventually(lambda: not terminal.left()), terminal.left()


@pytest.mark.timeout(240)
def test_a_service_that_is_killed_leaves_no_jvm(server: ServerProcess, tmp_path: Path) -> None:
    """Not even kill -9 leaves one, early or late."""
    command = ("tier", "-s", server.bootstrap, "--warehouse", "lake")
    with Terminal(*command, directory=tmp_path) as terminal:
        assert eventually(lambda: terminal.runs("java"))
        terminal.signal(signal.SIGKILL)
        assert terminal.ended() == 128 + signal.SIGKILL
        assert eventually(lambda: not terminal.left()), terminal.left()


def test_a_server_says_that_it_stops(tmp_path: Path) -> None:
    """Ctrl-C is answered."""
    with Terminal("serve", "--data-dir", "data", "--port", "0", directory=tmp_path) as terminal:
        assert terminal.wait_until(lambda text: "Lakeward is ready" in text)
        terminal.press(CTRL_C)
        assert terminal.ended() == 0
        assert "Lakeward has stopped" in terminal.text


def test_nobody_is_asked_twice_in_vain(server: ServerProcess, tmp_path: Path) -> None:
    """What loses rows asks a person, takes --yes from a script, and refuses where there is neither."""
    cli = Cli(server.bootstrap, tmp_path)
    cli.ok("databases", "create", "asked", "--if-not-exists")
    cli.ok("tables", "create", "asked.t", "id BIGINT")
    refused = cli.run("tables", "drop", "asked.t", stdin="n\n")
    assert refused.returncode == 2
    assert "Drop table asked.t with all its rows? Nobody can be asked here" in refused.stderr
    with Terminal("tables", "drop", "asked.t", "-s", server.bootstrap, directory=tmp_path) as terminal:
        assert terminal.wait_until(lambda text: "[y/N]" in text)
        terminal.press(b"n\r")
        assert terminal.ended() == 1
    assert cli.document("tables", "list", "asked", "--names") == [{"table": "asked.t"}]
    cli.ok("tables", "drop", "asked.t", "--yes")
