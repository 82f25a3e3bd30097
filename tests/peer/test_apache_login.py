"""An Apache Fluss that asks who comes: our client and the command line log in as its own clients do."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from cli_process import Cli

import lakeward as lw
from lakeward.errors import DeniedError, ErrorCode

_BOOTSTRAP, _PASSWORD = json.loads(os.environ["LAKEWARD_PEER_LOGIN"])
_JAAS = "org.apache.fluss.security.auth.sasl.plain.PlainLoginModule required"


@pytest.mark.parametrize(
    "options",
    [
        {"user": "alice", "password": _PASSWORD},
        {"client.security.protocol": "sasl", "client.security.sasl.jaas.config": ""},
        {"user": "alice", "password": "${env:LAKEWARD_PEER_PASSWORD}"},
    ],
    ids=["literal", "jaas", "reference"],
)
def test_our_client_logs_in(options: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    """On the coordinator and on the tablet server, for rows and for keys."""
    monkeypatch.setenv("LAKEWARD_PEER_PASSWORD", _PASSWORD)
    jaas = "client.security.sasl.jaas.config"
    given = {**options, jaas: f'{_JAAS} username="alice" password="{_PASSWORD}";'} if jaas in options else options
    with lw.connect(_BOOTSTRAP, **given) as conn:
        table = conn.create_table("fluss.logged_in", "id INT, name STRING", primary_key="id", exist_ok=True)
        table.upsert([{"id": 1, "name": "one"}])
        assert table.lookup([{"id": 1}]).to_pylist() == [{"id": 1, "name": "one"}]
        log = conn.create_table("fluss.logged_in_log", "id INT", exist_ok=True)
        log.append([{"id": 1}])
        assert log.scan().to_arrow().num_rows >= 1


@pytest.mark.parametrize(("user", "password"), [("alice", "wr0ng"), ("nobody", _PASSWORD)])
def test_wrong_logins_are_refused(user: str, password: str) -> None:
    """With the code of the protocol, and without the password."""
    with pytest.raises(DeniedError, match=f"did not let '{user}' in") as refused:
        lw.connect(_BOOTSTRAP, user=user, password=password)
    assert refused.value.code is ErrorCode.AUTHENTICATE
    assert password not in str(refused.value)


def test_who_does_not_log_in_may_ask_nothing() -> None:
    """The error is the server's own, and names the option that is missing."""
    with pytest.raises(DeniedError, match=r"client\.security\.protocol"):
        lw.connect(_BOOTSTRAP)


def test_what_it_does_not_speak_is_told() -> None:
    """It has neither SCRAM nor TLS; nobody is let in another way instead."""
    with pytest.raises(DeniedError, match="SCRAM-SHA-256"):
        lw.connect(_BOOTSTRAP, user="alice", password=_PASSWORD, security_sasl_mechanism="SCRAM-SHA-256")
    with pytest.raises(DeniedError, match="does not speak TLS"):
        lw.connect(_BOOTSTRAP, user="alice", password=_PASSWORD, security_protocol="SASL_SSL")


def test_the_command_line_logs_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By its variables."""
    monkeypatch.setenv("LAKEWARD_USER", "alice")
    monkeypatch.setenv("LAKEWARD_PASSWORD", _PASSWORD)
    assert "fluss" in Cli(_BOOTSTRAP, tmp_path).ok("databases", "list")
