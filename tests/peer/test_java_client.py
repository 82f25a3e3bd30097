"""Java's client of Apache Fluss at our server: it logs in by PLAIN, and makes, lists and drops grants."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from logins import ASKING, JAAS
from server_process import ServerProcess

_CLASS_PATH = os.environ["LAKEWARD_PEER_JAVA"]
_PROGRAM = Path(__file__).parents[1] / "data" / "SecuredClient.java"
_REFUSED = "AuthorizationException"
_JAVA_S = 120


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    """A server that asks who somebody is and what they may do."""
    with ServerProcess(
        tmp_path_factory.mktemp("guarded") / "data",
        security__sasl__plain__jaas__config=JAAS,
        authorizer__enabled="true",
        super__users="User:admin",
        **ASKING,
    ) as server:
        yield server
    assert "Traceback" not in server.log_text


def java(server: ServerProcess, user: str, *steps: str) -> list[str]:
    """What came of each step that somebody took."""
    command = ["java", "--add-opens=java.base/java.nio=ALL-UNNAMED", "-cp", _CLASS_PATH, str(_PROGRAM)]
    done = subprocess.run(
        [*command, server.listeners["CLIENT"], user, *steps], capture_output=True, text=True, timeout=_JAVA_S
    )
    assert done.returncode == 0, done.stderr[-4000:]
    said = [line for line in done.stdout.splitlines() if line.partition(": ")[0] in steps]
    assert len(said) == len(steps), done.stdout + done.stderr[-4000:]
    return [line.partition(": ")[2] for line in said]


def test_grants_of_javas_admin_hold(guarded: ServerProcess) -> None:
    """Alice may nothing, then write, then read, too; and nothing again once her grants are dropped."""
    assert java(guarded, "admin", "create", "list") == ["done", ""]
    assert java(guarded, "alice", "tables", "write", "list", "grant-read") == ["[]", _REFUSED, "", _REFUSED]
    assert java(guarded, "admin", "grant-write", "list") == ["done", "alice WRITE shop.orders;"]
    assert java(guarded, "alice", "tables", "write") == ["[orders]", "done"]
    assert java(guarded, "alice", "read") == [_REFUSED]
    assert java(guarded, "admin", "grant-read") == ["done"]
    assert java(guarded, "alice", "read") == ["1 read"]
    assert java(guarded, "admin", "drop", "list") == ["2 gone", ""]
    assert java(guarded, "alice", "tables", "write") == ["[]", _REFUSED]


def test_a_wrong_password_does_not_get_in(guarded: ServerProcess) -> None:
    """Java's client is told what the protocol has for it."""
    assert java(guarded, "nobody", "tables") == ["AuthenticationException"]
