"""The progress bar of an append."""

from __future__ import annotations

import io

import pytest

from lakeward.cli.output.append_progress import AppendProgress
from lakeward.runtime.clock import ManualClock


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_quick_work_shows_no_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    """Half a second is not worth a bar."""
    terminal = _Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    clock = ManualClock()
    with AppendProgress(clock) as progress:
        progress.start("a.csv")
        clock.advance(100)
        progress.move(0.5, 10)
    assert terminal.getvalue() == ""


def test_long_work_shows_name_rows_and_rate(monkeypatch: pytest.MonkeyPatch) -> None:
    """A bar says which file, how many rows, and how fast, over all files."""
    terminal = _Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "100")
    clock = ManualClock()
    with AppendProgress(clock) as progress:
        progress.start("a.csv")
        clock.advance(1000)
        progress.move(0.5, 1000)
        progress.start("b.csv")
        clock.advance(1000)
        progress.move(None, 500)
    shown = terminal.getvalue()
    assert "b.csv" in shown
    assert "1,500 rows, 750/s" in shown


def test_nothing_is_shown_into_a_pipe(monkeypatch: pytest.MonkeyPatch) -> None:
    """A log file is not filled with bars."""
    pipe = io.StringIO()
    monkeypatch.setattr("sys.stderr", pipe)
    clock = ManualClock()
    with AppendProgress(clock) as progress:
        progress.start("a.csv")
        clock.advance(5000)
        progress.move(0.5, 10)
    assert pipe.getvalue() == ""
