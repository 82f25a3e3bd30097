"""When Enter runs what was typed, and when it makes a new line."""

from __future__ import annotations

import pytest

from lakeward.cli.commands.scripts.shell.prompt_line import is_whole


@pytest.mark.parametrize(
    "text", ["", "  \n", "exit", "quit;", r"\q", "HELP", "clear", "SELECT 1;", "SELECT 1; -- done"]
)
def test_enter_runs_what_is_whole(text: str) -> None:
    """Statements with their ends, commands without."""
    assert is_whole(text)


@pytest.mark.parametrize(
    "text",
    [
        "SELECT 1",
        "SELECT ';",
        "SELECT 1; SELECT 2",
        "SELECT 1 -- ;",
        "SELECT /* ;",
        "exit the",
        "EXECUTE STATEMENT SET BEGIN INSERT INTO a SELECT 1;",
    ],
)
def test_enter_goes_on_in_a_new_line_otherwise(text: str) -> None:
    """A semicolon in a text or a comment is none."""
    assert not is_whole(text)
