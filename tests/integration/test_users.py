"""`lakeward users`: who may log in, changed while the server runs; passwords are kept nowhere."""

from __future__ import annotations

import signal
import stat
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import forked
import pexpect
import pytest
from eventually import eventually
from logins import ASKING, log_in, log_in_by_scram, plain_token
from server_process import ServerProcess
from wire_client import WireClient

from lakeward.protocol.api import Api
from lakeward.protocol.messages.metadata import MetadataRequest
from lakeward.runtime.files.local_files import LocalFiles
from lakeward.server.access.known.users_file import USERS_FILE, read_users

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def users(tmp_path: Path) -> Run:
    """`lakeward users …` on a data directory; a password comes by a file, as nothing else would hide it."""

    def run(*arguments: str, password: str | None = None) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "lakeward", "users", *arguments, "--data-dir", str(tmp_path / "data")]
        if password is not None:
            file = tmp_path / "password"
            file.write_text(password + "\n")
            file.chmod(0o600)
            command += ["--password-file", str(file)]
        return forked.run(command)

    return run


def code(server: ServerProcess, name: str, password: str) -> int:
    """How a login ends; 0 is in."""
    with WireClient.of(server.listeners["CLIENT"]) as client:
        return client.error_code(Api.AUTHENTICATE, plain_token(name, password))


def test_a_change_holds_from_the_next_login_on(tmp_path: Path, users: Run) -> None:
    """Made, another password, gone: without a restart; and whoever was in by what was changed is sent away."""
    with ServerProcess(tmp_path / "data", **ASKING) as server:
        assert "nobody can log in on the listener CLIENT yet" in server.log_text
        assert code(server, "alice", "first password") == 46
        assert users("create", "alice", password="first password").returncode == 0
        assert code(server, "alice", "first password") == 0
        with WireClient.of(server.listeners["CLIENT"]) as inside, WireClient.of(server.listeners["CLIENT"]) as proven:
            log_in(inside, "alice", "first password")
            log_in_by_scram(proven, "alice", "first password")
            assert users("create", "bob", password="of bob, long").returncode == 0
            inside.call(Api.GET_METADATA, MetadataRequest())
            assert users("passwd", "alice", password="second password").returncode == 0
            assert inside.is_closed_by_server()
            assert proven.is_closed_by_server()
        assert code(server, "alice", "first password") == 46
        assert code(server, "alice", "second password") == 0
        with WireClient.of(server.listeners["CLIENT"]) as inside:
            log_in(inside, "alice", "second password")
            assert users("drop", "alice", "--yes").returncode == 0
            assert inside.is_closed_by_server()
        assert code(server, "alice", "second password") == 46
        server.restart()
        assert code(server, "bob", "of bob, long") == 0
        found = {str(path) for path in server.data_dir.rglob("*") if path.is_file() and b"long" in path.read_bytes()}
        assert not found
        assert "password" not in server.log_text.replace("has another password", "")


def test_the_command_says_what_it_did(users: Run) -> None:
    """List, and what cannot be done; no sentence holds a password."""
    assert "Made user alice." in users("create", "alice", password="hush hush").stderr
    listed = users("list", "-o", "json")
    assert '"user": "alice"' in listed.stdout
    assert "key" not in listed.stdout
    again = users("create", "alice", password="hush hush")
    assert (again.returncode, "already" in again.stderr) == (1, True)
    for arguments in (("passwd", "bob"), ("drop", "bob", "--yes")):
        done = users(*arguments, password="hush hush" if arguments[0] == "passwd" else None)
        assert (done.returncode, "no user bob" in done.stderr) == (1, True)
    for name in ("", "a b", "a:b", "a;b", "*", "ANONYMOUS", "x" * 200):
        assert users("create", name, password="hush hush").returncode == 1
    short = users("create", "carol", password="hush")
    assert (short.returncode, "8 to 512" in short.stderr) == (1, True)
    assert "hush" not in again.stderr + short.stderr


def test_a_file_that_others_may_read_is_not_taken(tmp_path: Path, users: Run) -> None:
    """Neither for a password, nor for the users: then the server does not start, or goes on with those it knew."""
    (tmp_path / "open").write_text("hush hush\n")
    (tmp_path / "open").chmod(0o644)
    done = users("create", "alice", "--password-file", str(tmp_path / "open"))
    assert (done.returncode, "chmod 600" in done.stderr) == (1, True)
    assert users("create", "alice", password="hush hush").returncode == 0
    file = tmp_path / "data" / USERS_FILE
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    with ServerProcess(tmp_path / "data", **ASKING) as server:
        file.write_bytes(b'{"format": 1, "users": {"mallory": ')
        assert eventually(lambda: "cannot be taken: it is damaged" in server.log_text)
        assert code(server, "alice", "hush hush") == 0
        server.stop()
        with pytest.raises(AssertionError, match="it is damaged"):
            server.start()
        file.write_bytes(b'{"format": 1, "users": {}}')
        file.chmod(0o640)
        with pytest.raises(AssertionError, match="chmod 600"):
            server.start()
        file.chmod(0o600)
        server.start()


@pytest.mark.parametrize("place", ["variable", "file"])
def test_the_first_user_is_made_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, users: Run, place: str) -> None:
    """By a variable or by a file; later starts do not bring back who was dropped."""
    options = dict(ASKING)
    if place == "variable":
        monkeypatch.setenv("LAKEWARD_FIRST_USER", "root:hush hush")
    else:
        (tmp_path / "first").write_text("root:hush hush\n")
        (tmp_path / "first").chmod(0o600)
        options["security__users__first"] = f"file:{tmp_path / 'first'}"
    with ServerProcess(tmp_path / "data", **options) as server:
        assert code(server, "root", "hush hush") == 0
        assert users("drop", "root", "--yes").returncode == 0
        server.restart()
        assert code(server, "root", "hush hush") == 46
        assert "hush" not in server.log_text


def test_a_command_that_is_killed_leaves_all_or_nothing(tmp_path: Path, users: Run) -> None:
    """The file is whole whenever the command dies, and the next one is not kept waiting."""
    assert users("create", "first", password="hush hush").returncode == 0
    command = [sys.executable, "-m", "lakeward", "users", "passwd", "first", "--data-dir", str(tmp_path / "data")]
    for pause_s in (0.05, 0.1, 0.15, 0.2, 0.3, 0.4):
        child = forked.Forked([*command, "--password-file", str(tmp_path / "password")], stderr=subprocess.DEVNULL)
        time.sleep(pause_s)
        child.send_signal(signal.SIGKILL)
        child.wait()
        assert list(read_users(LocalFiles(), tmp_path / "data" / USERS_FILE)) == ["first"]
    assert users("create", "second", password="hush hush").returncode == 0
    assert '"second"' in users("list", "-o", "json").stdout


def test_a_person_types_the_password_twice_and_sees_nothing_of_it(tmp_path: Path) -> None:
    """At a terminal the command asks; two that differ are asked for again."""
    command = ["-m", "lakeward", "users", "create", "alice", "--data-dir", str(tmp_path / "data")]
    person = pexpect.spawn(sys.executable, command, encoding="utf-8", timeout=60)
    for question, answer in (
        ("Password: ", "hush hush"),
        ("confirmation: ", "hush hash"),
        ("Password: ", "hush hush"),
        ("confirmation: ", "hush hush"),
    ):
        person.expect(question)
        assert "hush" not in person.before
        person.sendline(answer)
    person.expect("Made user alice.")
    assert "hush" not in person.before
    person.expect(pexpect.EOF)
    person.close()
    assert person.exitstatus == 0
    found = read_users(LocalFiles(), tmp_path / "data" / USERS_FILE)
    assert found["alice"].secret.is_of("hush hush")
