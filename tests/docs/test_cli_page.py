"""The page of the command line is what the program prints."""

from __future__ import annotations

from pathlib import Path

import click

from lakeward.cli import reference
from lakeward.cli.main import cli

_PAGE = Path(__file__).parents[2] / "docs" / "reference" / "cli.md"


def test_the_page_is_up_to_date() -> None:
    """docs/reference/cli.md equals the printed page; `make docs` makes it so."""
    assert _PAGE.read_text() == reference.page()


def test_every_command_shows_an_example() -> None:
    """Help teaches: each command that does something has an example in it."""
    for path, command in reference.commands("lakeward", cli):
        if not isinstance(command, click.Group):
            assert f"{path} " in (command.help or "") or f"{path}\n" in (command.help or "") + "\n", path
