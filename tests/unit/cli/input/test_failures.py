"""Exceptions become sentences."""

from __future__ import annotations

import pyarrow as pa
import pytest
from click.testing import CliRunner, Result

from lakeward.cli.input.command_tree import CommandTree
from lakeward.cli.input.failures import sentence
from lakeward.cli.input.session import root_options
from lakeward.errors import ErrorCode

_TREE = CommandTree(name="t", sections={"All": {"fails": "failing_command"}}, params=[])
root_options(_TREE)


def _failing(wrong: BaseException, *arguments: str, monkeypatch: pytest.MonkeyPatch) -> Result:
    monkeypatch.setattr("failing_command.WRONG", wrong)
    return CliRunner().invoke(_TREE, [*arguments, "fails"])


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        (ErrorCode.TABLE_NOT_EXIST.error("Table a.b does not exist."), "Error: Table a.b does not exist.\n"),
        (FileNotFoundError(2, "No such file or directory", "x.csv"), "Error: x.csv: No such file or directory\n"),
        (pa.ArrowInvalid("not a Parquet file"), "Error: not a Parquet file\n"),
    ],
)
def test_an_error_is_one_sentence_and_exit_code_1(wrong: Exception, told: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Errors of the server, of files and of Arrow are told without a trace."""
    result = _failing(wrong, monkeypatch=monkeypatch)
    assert result.exit_code == 1
    assert result.stderr == told
    assert result.stdout == ""


def test_a_bug_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """What nobody expected is not dressed up as the user's mistake."""
    result = _failing(KeyError("x"), monkeypatch=monkeypatch)
    assert result.exit_code == 1
    assert "Unexpected KeyError" in result.stderr
    assert "--debug" in result.stderr


def test_debug_shows_the_trace(monkeypatch: pytest.MonkeyPatch) -> None:
    """With --debug the exception itself comes out."""
    result = _failing(KeyError("x"), "--debug", monkeypatch=monkeypatch)
    assert isinstance(result.exception, KeyError)


def test_ctrl_c_is_quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stopping a command is no error to talk about."""
    result = _failing(KeyboardInterrupt(), monkeypatch=monkeypatch)
    assert result.exit_code == 130
    assert result.stderr == ""


def test_without_a_server_the_sentence_says_how_to_start_one() -> None:
    """The most common first error helps itself."""
    told = sentence(ErrorCode.NETWORK.error("Cannot connect to localhost:9123."))
    assert "lakeward serve" in told
    assert "--server" in told
