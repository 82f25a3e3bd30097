"""What a person is shown who does not know everything by heart."""

from __future__ import annotations

from pathlib import Path

import pytest
from cli_process import Cli
from server_process import ServerProcess
from terminal import Terminal

import lakeward

pytestmark = pytest.mark.slow


@pytest.fixture
def cli(server: ServerProcess, tmp_path: Path, database: str) -> Cli:
    """The command line, and a table with rows."""
    made = Cli(server.bootstrap, tmp_path)
    made.ok("tables", "create", f"{database}.orders", "id BIGINT, item STRING", "--buckets", "1")
    with lakeward.connect(server.bootstrap) as connection:
        connection.table(f"{database}.orders").append([{"id": i, "item": "ab"[i % 2]} for i in range(20)])
    return made


def test_what_was_meant_is_guessed(cli: Cli, database: str) -> None:
    """Of commands, tables and databases."""
    assert "Did you mean 'tables'?" in cli.run("tabels").stderr
    assert f"Did you mean {database}.orders?" in cli.run("tail", f"{database}.order").stderr
    assert f"Did you mean {database}?" in cli.run("tables", "list", f"{database}x").stderr


def test_the_table_that_was_meant_is_the_nearest(cli: Cli, database: str) -> None:
    """Not the one with the shortest name; and none is named when none is near."""
    for name in ("big", "people"):
        cli.ok("tables", "create", f"{database}.{name}", "id BIGINT")
    for command in (("tables", "describe"), ("offsets",), ("tables", "drop", "--yes"), ("plan",)):
        assert f"Did you mean {database}.orders?" in cli.run(*command, f"{database}.ordrs").stderr
    assert f"Did you mean {database}.people?" in cli.run("tail", f"{database}.peple").stderr
    assert "Did you mean" not in cli.run("tail", f"{database}.zzzzzzz").stderr


def test_a_query_of_a_table_that_is_not_there_is_told_which_is(cli: Cli, database: str) -> None:
    """A misspelt table is as usual in SQL as elsewhere."""
    assert f"Did you mean {database}.orders?" in cli.run("sql", f"SELECT 1 FROM {database}.ordrs").stderr


def test_rows_for_a_database_that_is_not_there(cli: Cli, database: str) -> None:
    """The option that makes tables would not help."""
    (cli.directory / "a.csv").write_text("id,item\n1,boots\n")
    told = cli.run("append", f"{database}x.orders", "a.csv").stderr
    assert f"Database {database}x does not exist" in told
    assert f"Did you mean {database}?" in told
    assert "--create" not in told


def test_no_query_is_told_as_such(cli: Cli) -> None:
    """Nothing is not several statements."""
    for nothing in ("", " ;", "/* a remark */"):
        assert "There is no query" in cli.run("sql", nothing).stderr


def test_a_column_that_is_a_word_of_sql_is_to_be_quoted(cli: Cli, database: str) -> None:
    """A syntax error behind it says little to who does not know all keywords."""
    cli.ok("tables", "create", f"{database}.t", "id BIGINT, at TIMESTAMP(3)")
    for query in (f"SELECT at FROM {database}.t", f"SELECT id FROM {database}.t WHERE at > now()"):
        assert 'quote it: "at"' in cli.run("sql", query).stderr
    assert "quote it" not in cli.run("sql", f"SELECT id, FROM WHERE {database}.t").stderr


def test_a_broken_line_of_json_is_named_before_upserts(cli: Cli, database: str) -> None:
    """As with CSV: file, line, and what of it is in the table."""
    cli.ok("tables", "create", f"{database}.lim", "id BIGINT, v STRING", "--primary-key", "id")
    good = '{"id": 11, "v": "a"}\n'
    for broken in ('{"id": 12, "v" "x"}\n', '{"id": 12, "v": "x'):
        (cli.directory / "j.json").write_text(good + broken)
        told = cli.run("upsert", f"{database}.lim", "j.json").stderr
        assert "j.json, line 2: not JSON" in told
        assert "1 row before it went into" in told
    (cli.directory / "c.csv").write_text("id,v\n13,a\n14,b,c\n")
    assert "c.csv, line 3: there are 3 fields" in cli.run("upsert", f"{database}.lim", "c.csv").stderr


def test_a_file_without_rows_is_told(cli: Cli, database: str) -> None:
    """It is no error, but nobody means it."""
    for name, text, told in (("a.csv", "", "a.csv is empty"), ("b.csv", "id,item\n", "b.csv has no rows")):
        (cli.directory / name).write_text(text)
        done = cli.run("append", f"{database}.orders", name)
        assert (done.returncode, told in done.stderr) == (0, True), done.stderr


def test_the_option_that_helps_is_named(cli: Cli, database: str) -> None:
    """Where one is at hand."""
    assert "--cascade" in cli.run("databases", "drop", database).stderr
    (cli.directory / "a.csv").write_text("1;boots\n2;tent\n")
    assert "--delimiter ';'" in cli.run("append", f"{database}.orders", "a.csv").stderr
    (cli.directory / "b.csv").write_text("1,boots\n2,tent\n")
    assert "--no-header" in cli.run("append", f"{database}.orders", "b.csv").stderr
    assert "--create" in cli.run("append", f"{database}.new", "b.csv").stderr


def test_a_server_may_be_named_as_a_url(cli: Cli, database: str) -> None:
    """People copy it from a browser."""
    assert f"{database}.orders" in cli.ok("tables", "list", database, "-s", f"http://{cli.bootstrap}/")


def test_tables_are_listed_with_what_is_in_them(cli: Cli, database: str) -> None:
    """Their kind, their rows, and how far the lake is behind, if they go into one."""
    cli.ok("tables", "create", f"{database}.users", "id BIGINT", "--primary-key", "id")
    cli.ok("tables", "alter", f"{database}.orders", "--set", "table.datalake.enabled=true")
    found = {t["table"].partition(".")[2]: t for t in cli.document("tables", "list", database)}
    assert (found["orders"]["kind"], found["orders"]["rows"], found["orders"]["lake_lag"]) == ("log", 20, 20)
    assert (found["users"]["kind"], found["users"]["lake_lag"]) == ("primary key", None)


def test_rows_are_shown_for_which_a_condition_holds(cli: Cli, database: str) -> None:
    """By any column, shown or not; a limit counts those that are shown."""
    table, every = f"{database}.orders", ("--from", "earliest", "--no-follow")
    assert [r["id"] for r in cli.rows("tail", table, *every, "--where", "item = 'b' AND id > 10")] == [
        11,
        13,
        15,
        17,
        19,
    ]
    found = cli.rows("tail", table, *every, "--where", "item = 'b'", "--columns", "id", "--limit", "2")
    assert found == [{"id": 1}, {"id": 3}]
    assert "--where" in cli.run("tail", table, *every, "--where", "nosuch = 1").stderr


def test_sql_shows_and_describes_and_only_reads(cli: Cli, database: str) -> None:
    """In one statement or in several; what would write is refused with the command that does."""
    assert {"table": f"{database}.orders"} in cli.document("sql", f"SHOW TABLES FROM {database}")
    assert "item" in cli.ok("sql", f"describe {database}.orders")
    refused = cli.run("sql", f"INSERT INTO {database}.orders VALUES (1, 'x')")
    assert refused.returncode == 1
    assert "only reads" in refused.stderr
    assert "lakeward append" in refused.stderr
    told = cli.run("sql", stdin=f"SELECT count(*) n FROM {database}.orders;\nSELECT ';' AS s")
    assert told.stdout.split() == ["n", "20", "s", ";"], told.stderr


def test_sql_alone_is_a_shell(cli: Cli, database: str) -> None:
    """It asks, answers, tells a mistake and asks again; Ctrl-D ends it."""
    with Terminal("sql", "-s", cli.bootstrap, directory=cli.directory) as terminal:
        assert terminal.wait_until(lambda text: "lakeward> " in text)
        terminal.press(f"select count(*) as many\rfrom {database}.orders;\r".encode())
        assert terminal.wait_until(lambda text: "\n  20" in text or "\n20" in text), terminal.text
        assert terminal.wait_until(lambda text: text.endswith("lakeward> ")), terminal.text
        terminal.press(b"select nonsense;\r")
        assert terminal.wait_until(lambda text: "Error: " in text.rpartition("nonsense;")[2]), terminal.text
        assert terminal.wait_until(lambda text: text.endswith("lakeward> ")), terminal.text
        terminal.press(b"help;\r")
        assert terminal.wait_until(lambda text: "Ctrl-D ends" in text), terminal.text
        assert terminal.wait_until(lambda text: text.endswith("lakeward> ")), terminal.text
        terminal.press(b"\x04")
        assert terminal.ended() == 0, terminal.text


def test_the_shell_ends_when_told_to(cli: Cli) -> None:
    """With the semicolon that all else needs, or without; the greeting says how."""
    for word in (b"exit;\r", b"quit\r"):
        with Terminal("sql", "-s", cli.bootstrap, directory=cli.directory) as terminal:
            assert terminal.wait_until(lambda text: "lakeward> " in text)
            assert "help" in terminal.text
            assert "exit" in terminal.text
            terminal.press(word)
            assert terminal.ended() == 0, terminal.text


@pytest.mark.long
def test_hints_and_figures_of_the_demo_stay_on_the_screen(tmp_path: Path) -> None:
    """Rows scroll between them, a few a second; in the end the terminal is a terminal again."""
    command = ("demo", "--data-dir", "demo", "--port", "0", "--engine", "local", "--limit", "300")
    with Terminal(*command, directory=tmp_path, COLUMNS="130", LINES="40") as terminal:
        assert terminal.ended() == 0, terminal.text
    scrolls = terminal.text.index(";39r")  # behind the hints, whose number is not told here
    assert "lakeward tail demo.orders" in terminal.text[:scrolls]
    assert "lag: " in terminal.text[scrolls:]
    assert terminal.text.count("\n") < 150, "fewer rows than orders"
    assert "\x1b[r" in terminal.text[scrolls:]
