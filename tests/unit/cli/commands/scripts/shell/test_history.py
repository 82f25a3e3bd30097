"""What was typed before."""

from __future__ import annotations

from pathlib import Path

import pytest

from lakeward.cli.commands.scripts.shell.history import StatementHistory, may_be_kept


def remembered(path: Path) -> list[str]:
    """What a new shell knows, the last first."""
    return list(StatementHistory(path).load_history_strings())


def test_statements_of_all_shells_are_remembered(tmp_path: Path) -> None:
    """Those of several lines too, in a file for their owner alone."""
    path = tmp_path / "state" / "shell-history"
    one, other = StatementHistory(path), StatementHistory(path)
    one.store_string("SELECT 1;")
    other.store_string("SELECT\n  'ä';")
    one.store_string("SHOW JOBS;")
    assert remembered(path) == ["SHOW JOBS;", "SELECT\n  'ä';", "SELECT 1;"]
    assert (path.stat().st_mode & 0o777, path.parent.stat().st_mode & 0o777) == (0o600, 0o700)


@pytest.mark.parametrize(
    "text",
    [
        "CREATE TABLE t (a INT) WITH ('connector' = 'mysql-cdc', 'password' = 'p');",
        "SET client.security.sasl.password = p;",
        "CREATE CATALOG c WITH ('type' = 'paimon', 's3.secret-key' = 'k');",
        "CREATE TABLE t (a INT) WITH ('url' = 'https://ann:p@host/x');",
        "SELECT '" + "x" * 100_000 + "';",
    ],
)
def test_a_secret_is_not_kept(tmp_path: Path, text: str) -> None:
    """Nor what nobody would look for."""
    assert not may_be_kept(text)
    StatementHistory(tmp_path / "h").store_string(text)
    assert remembered(tmp_path / "h") == []


def test_a_damaged_line_takes_no_other_with_it(tmp_path: Path) -> None:
    """A shell that was killed while it wrote leaves half a line."""
    path = tmp_path / "h"
    path.write_bytes(b'"SELECT 1;"\n"SELEC\n\xff\xfe\n{"a": 1}\n"SELECT 2;"\n')
    assert remembered(path) == ["SELECT 2;", "SELECT 1;"]


def test_a_long_file_is_shortened(tmp_path: Path) -> None:
    """The last ones stay."""
    path = tmp_path / "h"
    history = StatementHistory(path)
    for number in range(100):
        history.store_string(f"SELECT {number}, '{'x' * 30_000}';")
    assert remembered(path)[0].startswith("SELECT 99,")
    assert path.stat().st_size < 2 << 20


def test_a_place_that_cannot_be_written_is_no_error(tmp_path: Path) -> None:
    """One can type all the same."""
    (tmp_path / "file").write_text("")
    StatementHistory(tmp_path / "file" / "h").store_string("SELECT 1;")
    assert remembered(tmp_path / "file" / "h") == []
