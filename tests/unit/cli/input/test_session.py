"""Which server a command talks to."""

from __future__ import annotations

import click
import pytest
from click.testing import CliRunner

from lakeward.cli.input.session import Session, on_server, root_options


@click.group()
@root_options
def _root() -> None:
    """A program."""


@_root.command("show")
@on_server
def _show(session: Session) -> None:
    """Say what was understood."""
    click.echo(f"{session.server} {session.debug}")


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["show"], "localhost:9123 False"),
        (["-s", "a:1", "show"], "a:1 False"),
        (["show", "--server", "b:2"], "b:2 False"),
        (["-s", "a:1", "show", "-s", "b:2"], "b:2 False"),
        (["show", "--debug"], "localhost:9123 True"),
        (["--debug", "show"], "localhost:9123 True"),
    ],
)
def test_the_server_may_be_named_before_and_after_the_command(arguments: list[str], told: str) -> None:
    """The nearer one wins."""
    assert CliRunner().invoke(_root, arguments).output.strip() == told


@pytest.mark.parametrize(
    ("arguments", "told"), [(["show"], "c:3"), (["-s", "a:1", "show"], "a:1"), (["show", "-s", "b:2"], "b:2")]
)
def test_the_environment_counts_where_nothing_is_said(arguments: list[str], told: str) -> None:
    """LAKEWARD_SERVER is the default of those who set it."""
    result = CliRunner().invoke(_root, arguments, env={"LAKEWARD_SERVER": "c:3"})
    assert result.output.split()[0] == told
