"""Text on its way to a terminal."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from lakeward.cli.output.plain_text import has_colours


def test_a_terminal_of_few_letters_shows_the_others_by_number() -> None:
    """The command line goes on where the encoding of its output lacks a character."""
    program = (
        "from lakeward.cli import main; import click; main.cli = lambda **_: click.echo('é 日本') or print('日本'); "
        "main.main()"
    )
    environment = {**os.environ, "PYTHONIOENCODING": "latin-1"}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True, env=environment)
    assert done.stdout == b"\xe9 \\u65e5\\u672c\n\\u65e5\\u672c\n"


def test_colours_are_left_out_where_they_are_not_wanted(monkeypatch: pytest.MonkeyPatch) -> None:
    """As https://no-color.org asks for, and on terminals that know none."""
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert has_colours()
    monkeypatch.setenv("NO_COLOR", "1")
    assert not has_colours()
    monkeypatch.delenv("NO_COLOR")
    monkeypatch.setenv("TERM", "dumb")
    assert not has_colours()
