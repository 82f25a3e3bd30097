"""The page of troubleshooting has a section for every check of the doctor, and no other."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import click
import pytest

from lakeward.cli.main import cli
from lakeward.doctor.checks.all_checks import CHECKS
from lakeward.doctor.findings.check import Check
from lakeward.doctor.findings.finding import PAGE

_TEXT = (Path(__file__).parents[2] / PAGE).read_text()
_SECTIONS = dict(re.findall(r"^## (\S+)\n\n(.*?)(?=^## |\Z)", _TEXT, re.DOTALL | re.MULTILINE))
_COMMANDS = re.findall(r"^(lakeward .*)$", _TEXT, re.MULTILINE)


def test_every_check_has_a_section_and_every_section_a_check() -> None:
    """In the order of the rows, so that none is overlooked."""
    assert list(_SECTIONS) == [check.name for check in CHECKS]


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.name)
def test_a_section_says_what_is_looked_at_and_what_to_do(check: Check) -> None:
    """It begins with the sentence of the row, then symptom, cause and remedy."""
    section = " ".join(_SECTIONS[check.name].split())
    assert section.startswith(check.looks_at)
    assert re.findall(r"\*\*(\w[\w ]*)\.\*\*", section) == ["Symptom", "Cause", "What to do"]


@pytest.mark.parametrize("line", sorted(set(_COMMANDS)))
def test_a_command_of_the_page_is_one(line: str) -> None:
    """Its name and its options are those of the program."""
    words = shlex.split(line.partition(" > ")[0].partition(" || ")[0])[1:]
    command: click.Command = cli
    context = click.Context(cli, help_option_names=["-h", "--help"])  # they are remembered
    while isinstance(command, click.Group) and words and not words[0].startswith("-"):
        found = command.get_command(context, words[0])
        assert found is not None, line
        command, words = found, words[1:]
    known = {name for option in command.get_params(context) for name in (*option.opts, *option.secondary_opts)}
    assert {word for word in words if word.startswith("-")} <= known | {"--help", "-h"}
