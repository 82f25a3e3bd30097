"""Who a command is to the server: where its password is looked for, and that it is never on the command line."""

from __future__ import annotations

import os
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from lakeward.cli.input.credentials import Credentials
from lakeward.cli.input.session import Session, on_server, root_options
from lakeward.options.client import SASL_PASSWORD, SASL_USERNAME, TLS_CA


@click.group()
@root_options
def _root() -> None:
    """A program."""


@_root.command("show")
@on_server
def _show(session: Session) -> None:
    """Say what a connection would be told."""
    for key, value in sorted(session.credentials.options().items()):
        click.echo(f"{key}={value}")


def run(*arguments: str, **environment: str | None) -> str:
    """What the program says, in an environment without credentials."""
    names = ("LAKEWARD_USER", "LAKEWARD_PASSWORD", "LAKEWARD_PASSWORD_FILE", "LAKEWARD_CA_FILE")
    environ: dict[str, str | None] = dict.fromkeys(names) | environment
    return CliRunner().invoke(_root, arguments, env=environ).output


def test_nobody_in_particular_is_the_default() -> None:
    """Without a user there is no login, whatever password is around."""
    assert run("show", LAKEWARD_PASSWORD="alice-secret") == ""


@pytest.mark.parametrize(
    "arguments", [("-u", "alice", "show"), ("show", "--user", "alice"), ("-u", "bob", "show", "-u", "alice")]
)
def test_a_user_is_named_before_or_after_the_command(arguments: tuple[str, ...]) -> None:
    """The nearer one wins; the option says where the password is, not what it is."""
    told = run(*arguments, LAKEWARD_PASSWORD="alice-secret")
    assert told == f"{SASL_PASSWORD.key}=${{env:LAKEWARD_PASSWORD}}\n{SASL_USERNAME.key}=alice\n"


def test_the_environment_names_user_file_and_authority(tmp_path: Path) -> None:
    """For those who always work on the same cluster; the file wins over the variable."""
    told = run(
        "show",
        LAKEWARD_USER="alice",
        LAKEWARD_PASSWORD="alice-secret",
        LAKEWARD_PASSWORD_FILE=str(tmp_path / "pw"),
        LAKEWARD_CA_FILE=str(tmp_path / "ca.pem"),
    )
    assert f"{SASL_PASSWORD.key}=file:{tmp_path}/pw\n" in told
    assert f"{TLS_CA.key}={tmp_path}/ca.pem\n" in told


def test_without_a_password_and_a_terminal_it_says_how_to_give_one() -> None:
    """Nothing waits for an answer that cannot come."""
    told = run("show", "-u", "alice")
    assert "no password for 'alice'" in told
    assert "LAKEWARD_PASSWORD" in told


def test_a_person_is_asked_once_and_what_was_typed_goes_to_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """So processes that the command starts find it, and no option holds it."""
    asked: list[str] = []

    def prompt(question: str, **_: object) -> str:
        asked.append(question)
        return "typed-secret"

    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    monkeypatch.setattr(click, "prompt", prompt)
    monkeypatch.setenv("LAKEWARD_PASSWORD", "")
    monkeypatch.delenv("LAKEWARD_PASSWORD")
    monkeypatch.delenv("LAKEWARD_PASSWORD_FILE", raising=False)
    alice = Credentials("alice")
    assert alice.would_ask
    assert alice.options() == alice.options()
    assert (asked, os.environ["LAKEWARD_PASSWORD"]) == (["Password of alice"], "typed-secret")
    assert "typed-secret" not in str(alice.options())
    assert not alice.would_ask


@pytest.mark.parametrize("key", ["client.security.sasl.password", "client.security.tls.key-password", "s3.secret-key"])
def test_a_secret_on_the_command_line_is_refused(key: str) -> None:
    """Others could read it in the list of processes; the refusal does not repeat it. A reference is no secret."""
    told = run("show", "--client", f"{key}=x-secret")
    assert "list" in told
    assert "x-secret" not in told
    assert f"{key}=file:/x\n" in run("show", "--client", f"{key}=file:/x")


def test_options_of_the_client_come_from_the_command_line() -> None:
    """Before and after the command, and for all of it."""
    told = run("--client", "client.request-timeout=5s", "show", "--client", "client.security.protocol=SSL")
    assert told == "client.request-timeout=5s\nclient.security.protocol=SSL\n"
