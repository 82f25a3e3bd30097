"""A server that was given what it cannot honour says so and does not start."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import forked
import pytest
from server_process import ServerProcess

_YEAR_S = 365 * 86_400


@pytest.mark.parametrize(
    "setting",
    [
        "security.sasl.plain.credentials=alice:hush",
        "security.protocol.map=OTHER:SASL",
        "security.sasl.plain.jaas.config=hush",
        "security.users.first=alice:hush",
        "security.no.such.thing=hush",
        "authorizer.no.such.thing=hush",
        "super.users=User:hush",
        "s3.endpoint=http://alice:hush@localhost:1",
    ],
)
def test_security_is_not_ignored(tmp_path: Path, setting: str) -> None:
    """One sentence that names the option and not its value; exit code 1; nothing was made."""
    command = [sys.executable, "-m", "lakeward", "serve", "--port", "0", "--data-dir", str(tmp_path / "data")]
    done = forked.run([*command, "-D", setting])
    assert done.returncode == 1
    assert setting.partition("=")[0] in done.stderr
    assert "hush" not in done.stderr + done.stdout
    assert not (tmp_path / "data").exists()


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ("hush", "not of the form that Java writes"),
        ("x required;", "names nobody"),
        ('x required user_a="hush" user_a="hush";', "twice"),
        ('x required user_a b="hush";', "not of the form"),
        ('x required user_ANONYMOUS="hush";', "nobody else may have that name"),
        ("${env:NO_SUCH_VARIABLE}", "NO_SUCH_VARIABLE"),
        ("file:/no/such/hush", "cannot be read"),
    ],
)
def test_users_that_cannot_be_read_are_told(tmp_path: Path, value: str, told: str) -> None:
    """What is wrong, without a word of what was written; a reference is no secret."""
    command = [sys.executable, "-m", "lakeward", "serve", "--port", "0", "--data-dir", str(tmp_path / "data")]
    users = f"-Dsecurity.sasl.plain.jaas.config={value}"
    done = forked.run([*command, "-Dsecurity.protocol.map=FLUSS:SASL", users])
    assert (done.returncode, told in done.stderr) == (1, True), done.stderr
    assert value.startswith("file:") or "hush" not in done.stderr
    assert not (tmp_path / "data").exists()


def test_addresses_that_are_given_twice_are_told(tmp_path: Path) -> None:
    """None of the two is left out without a word."""
    command = [sys.executable, "-m", "lakeward", "serve", "--port", "0", "--data-dir", str(tmp_path / "data")]
    done = forked.run([*command, "-D", "bind.listeners=A://localhost:0,B://localhost:0"])
    assert done.returncode == 1
    assert "--host and --port stand for one listener, and -D bind.listeners names some" in done.stderr
    assert not (tmp_path / "data").exists()


@pytest.mark.skipif(shutil.which("prlimit") is None, reason="needs prlimit")
def test_too_few_open_files_are_told(tmp_path: Path) -> None:
    """Before, such a server took one client, and all others waited for ever."""
    command = [sys.executable, "-m", "lakeward", "serve", "--port", "0", "--data-dir", str(tmp_path / "data")]
    done = subprocess.run(["prlimit", "--nofile=256", *command], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.startswith("Error: The system allows 256 open files (ulimit -n), and a server needs 784")


def test_a_clock_far_ahead_of_the_last_run_is_told_at_every_start(tmp_path: Path) -> None:
    """A second start does not take the doubtful time for certain."""
    with ServerProcess(tmp_path / "data") as server:
        server.kill()
        lock = tmp_path / "data" / "lakeward.lock"
        seen_s = lock.stat().st_mtime - _YEAR_S
        os.utime(lock, (seen_s, seen_s))
        for starts in (1, 2):
            server.start()
            server.kill()
            assert server.log_text.count("365 days") == starts
