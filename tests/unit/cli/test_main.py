"""The program as a whole: quick to start, consistent, helpful."""

from __future__ import annotations

import signal
import subprocess
import sys

import click
import pytest
from click.testing import CliRunner

from lakeward.cli.main import cli
from lakeward.cli.reference import commands

_ALL = dict(commands("lakeward", cli))
_HEAVY = ["pyarrow", "numpy", "pandas", "rich", "lakeward.client", "lakeward.server"]


def test_help_loads_nothing_heavy() -> None:
    """`lakeward --help` answers at once: no Arrow, no client, no server is imported for it."""
    program = (
        "import sys; from lakeward.cli.main import cli; cli(['--help'], standalone_mode=False); "
        f"print([m for m in {_HEAVY} if m in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stderr.strip() == "[]"


def test_ctrl_c_while_it_ends_leaves_no_trace() -> None:
    """Threads that are under way are waited for, and nobody wants to read where."""
    program = """
import signal, sys, time
from concurrent.futures import ThreadPoolExecutor
from lakeward.cli import main

def work():
    while signal.getsignal(signal.SIGINT) is not signal.SIG_DFL:
        time.sleep(0.01)
    print("ends", flush=True)
    time.sleep(60)

def cli(prog_name):
    ThreadPoolExecutor(1).submit(work)
    sys.exit(130)

main.cli = cli
main.main()
"""
    process = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stdout.readline() == b"ends\n"
    process.send_signal(signal.SIGINT)
    assert process.communicate(timeout=60)[1] == b""
    assert process.returncode == -signal.SIGINT


@pytest.mark.parametrize("path", _ALL)
def test_every_command_has_help(path: str) -> None:
    """Each command explains itself with -h, and each of its options has a sentence."""
    result = CliRunner().invoke(cli, [*path.split()[1:], "-h"])
    assert result.exit_code == 0, result.output
    for option in _ALL[path].params:
        if isinstance(option, click.Option):
            assert option.help, f"{path} {option.opts}"
            assert option.help[-1] in ".]", option.help


def test_a_wrong_command_line_is_exit_code_2() -> None:
    """Scripts can tell a wrong call from a refusal."""
    assert CliRunner().invoke(cli, ["tables", "create"]).exit_code == 2
    assert CliRunner().invoke(cli, ["nonsense"]).exit_code == 2
    assert CliRunner().invoke(cli, ["tables", "create", "a.b"]).exit_code == 2
    assert CliRunner().invoke(cli, ["tables", "alter", "a.b"]).exit_code == 2


def test_version() -> None:
    """The program says which one it is."""
    assert CliRunner().invoke(cli, ["--version"]).output.startswith("lakeward 0.")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_prints_a_script(shell: str) -> None:
    """Each shell gets a script that asks this program."""
    result = CliRunner().invoke(cli, ["completion", shell])
    assert result.exit_code == 0, result.output
    assert "_LAKEWARD_COMPLETE" in result.output
