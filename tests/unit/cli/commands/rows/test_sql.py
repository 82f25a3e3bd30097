"""`lakeward sql`: a question with options on either side of it, or a command."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from lakeward.cli.commands.rows.sql import sql
from lakeward.cli.main import cli


@pytest.mark.parametrize("words", [("SELECT 1", "--warehouse", "lake"), ("--warehouse", "lake", "SELECT 1")])
def test_options_stand_before_a_question_or_behind_it(words: tuple[str, ...]) -> None:
    """As they do for every command."""
    # click keeps what help is called from whoever asks first.
    with sql.make_context("sql", list(words), help_option_names=["-h", "--help"]) as context:
        assert (context.params["query"], context.params["warehouse"]) == ("SELECT 1", "lake")


def test_one_question_at_a_time() -> None:
    """What follows it is no part of it."""
    told = CliRunner().invoke(cli, ["sql", "SELECT 1", "SELECT 2"])
    assert told.exit_code == 2
    assert "unexpected extra" in told.output


def test_serve_is_a_command() -> None:
    """With options of its own."""
    told = CliRunner().invoke(cli, ["sql", "serve", "--help"])
    assert told.exit_code == 0
    assert "--users-from" in told.output
