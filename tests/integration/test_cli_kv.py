"""The commands for primary key tables, through processes as a person starts them."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import pytest
from cli_process import Cli
from server_process import ServerProcess

_COLUMNS = "id BIGINT, name STRING, at TIMESTAMP(3)"


@pytest.fixture
def cli(server: ServerProcess, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Cli:
    """The command line, pointed at the session's server, in a directory of its own."""
    monkeypatch.chdir(tmp_path)
    return Cli(server.bootstrap, tmp_path)


@pytest.fixture
def table(cli: Cli, database: str) -> str:
    """A table with three rows."""
    name = f"{database}.people"
    cli.ok("tables", "create", name, _COLUMNS, "--primary-key", "id", "--buckets", "2")
    (cli.directory / "people.csv").write_text('id,name,at\n1,"a, b",2026-08-01 12:00:00.5\n2,,\n300,"",\n')
    assert cli.document("upsert", name, "people.csv")["rows"] == 3
    return name


def test_rows_go_in_and_come_out(cli: Cli, table: str) -> None:
    """Upserted rows are found by key and dumped in each form; a second upsert replaces."""
    found = [
        {"id": 300, "name": "", "at": None},
        {"id": 1, "name": "a, b", "at": "2026-08-01T12:00:00.500"},
    ]
    assert cli.rows("lookup", table, "300", "1") == found
    assert cli.ok("upsert", table, "-", "--format", "json", stdin='{"id": 1, "name": "new", "at": null}\n') == (
        f"Upserted 1 row into {table}.\n"
    )
    dumped = sorted(cli.rows("dump", table), key=lambda row: row["id"])
    assert dumped == [
        {"id": 1, "name": "new", "at": None},
        {"id": 2, "name": None, "at": None},
        {"id": 300, "name": "", "at": None},
    ]
    assert sorted(cli.ok("dump", table, "--columns", "name,id", "-o", "csv").splitlines()) == [
        *('"",300', ",2", "name,id", "new,1")
    ]
    assert len(cli.rows("dump", table, "--limit", "2")) == 2
    assert "300" in cli.ok("dump", table)


def test_a_dump_can_be_upserted_again(cli: Cli, table: str) -> None:
    """CSV out, CSV in, nothing changed."""
    before = sorted(cli.ok("dump", table, "-o", "csv").splitlines())
    (cli.directory / "dump.csv").write_text(cli.ok("dump", table, "-o", "csv"))
    cli.ok("upsert", table, "dump.csv")
    assert sorted(cli.ok("dump", table, "-o", "csv").splitlines()) == before


def test_some_columns_only(cli: Cli, table: str) -> None:
    """A file that lacks a column is refused, with the option that keeps it; with it, only those are written."""
    (cli.directory / "names.csv").write_text("id,name\n1,renamed\n")
    wrong = cli.run("upsert", table, "names.csv")
    assert wrong.returncode == 1
    assert "names.csv lacks column 'at'" in wrong.stderr
    assert "--columns id,name" in wrong.stderr
    cli.ok("upsert", table, "names.csv", "--columns", "id,name")
    assert cli.rows("lookup", table, "1") == [{"id": 1, "name": "renamed", "at": "2026-08-01T12:00:00.500"}]


def test_keys_without_a_row(cli: Cli, table: str) -> None:
    """They are counted on stderr, printed as empty rows, or fail the command."""
    done = cli.run("lookup", table, "1", "77", "78", "-o", "json")
    assert (done.returncode, len(done.stdout.splitlines())) == (0, 1)
    assert done.stderr == f"2 keys of 3 without a row in {table}.\n"
    assert cli.rows("lookup", table, "77", "--missing", "null") == [{"id": None, "name": None, "at": None}]
    failed = cli.run("lookup", table, "77", "--missing", "raise")
    assert failed.returncode == 1
    assert failed.stderr == f"Error: {table} has no row with the key 77.\n"


def test_rows_are_deleted(cli: Cli, table: str) -> None:
    """By keys on the command line, and by those of a file that has more in it; what is told is what was sent."""
    assert cli.ok("delete", table, "1", "77", "--yes") == f"Sent 2 deletes to {table}.\n"
    (cli.directory / "gone.csv").write_text("reason,id\nmoved,2\n")
    assert cli.document("delete", table, "--from", "gone.csv", "--yes")["keys"] == 1
    assert [row["id"] for row in cli.rows("dump", table)] == [300]


def test_keys_of_several_columns(cli: Cli, database: str) -> None:
    """column=value or JSON; prefixes by the bucket key; partitions by name."""
    name = f"{database}.visits"
    cli.ok(
        *("tables", "create", name, "day STRING, who INT, page STRING, n INT"),
        *("--primary-key", "day,who,page", "--partition-by", "day", "--bucket-by", "who", "--buckets", "2"),
    )
    rows = [{"day": f"d{i % 2}", "who": i % 3, "page": f"p,{i}", "n": i} for i in range(12)]
    cli.ok("upsert", name, "-", "--format", "json", stdin="".join(json.dumps(row) + "\n" for row in rows))
    assert cli.rows("lookup", name, '{"day": "d1", "who": 1, "page": "p,7"}', "--columns", "n") == [{"n": 7}]
    assert [r["n"] for r in cli.rows("lookup", name, "day=d0,who=2", "--prefix")] == [2, 8]
    assert sorted(r["n"] for r in cli.rows("dump", name, "--partition", "day=d1")) == [1, 3, 5, 7, 9, 11]
    keys = "".join(json.dumps({"day": r["day"], "who": r["who"], "page": r["page"]}) + "\n" for r in rows[:6])
    cli.ok("delete", name, "--from", "-", "--format", "json", "--yes", stdin=keys)
    assert sorted(r["n"] for r in cli.rows("dump", name)) == [6, 7, 8, 9, 10, 11]


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (["lookup"], 2, "Name a key"),
        (["delete"], 2, "Name a key"),
        (["lookup", "x"], 1, "column 'id' is BIGINT NOT NULL; \"x\" does not fit"),
        (["lookup", "{id: 1}"], 1, "is not JSON"),
        (["lookup", '{"name": "x"}'], 1, "lacks 'id'"),
        (["lookup", "1", "--prefix"], 1, "bucket_by"),
        (["lookup", "1", "--columns", "nmae"], 1, "no column 'nmae'"),
    ],
)
def test_mistakes_are_told(cli: Cli, table: str, arguments: list[str], code: int, says: str) -> None:
    """In a sentence, with the exit code that tells a wrong call from a refusal."""
    command, *rest = arguments
    done = cli.run(command, table, *rest)
    assert done.returncode == code
    assert says in done.stderr


def test_the_last_changes(cli: Cli, table: str) -> None:
    """Kind of change first, then the row, then where and when."""
    cli.ok("upsert", table, "-", "--format", "json", stdin='{"id": 1, "name": "new", "at": null}\n')
    cli.ok("delete", table, "2", "--yes")
    changes = cli.rows("changelog", table, "--from", "earliest", "--no-follow")
    assert list(changes[0]) == ["_change_type", "id", "name", "at", "_bucket", "_offset", "_timestamp"]
    of_key = {key: [c["_change_type"] for c in changes if c["id"] == key] for key in (1, 2, 300)}
    assert of_key == {1: ["insert", "update_before", "update_after"], 2: ["insert", "delete"], 300: ["insert"]}
    last = cli.rows("changelog", table, "-n", "1", "--no-follow", "--columns", "id")
    assert [(c["_change_type"], c["id"]) for c in last] == [("delete", 2)]


def test_offsets_without_a_row_are_not_counted_as_rows(cli: Cli, database: str) -> None:
    """A delete of a key that is not there takes an offset: the last rows are still as many as were asked for."""
    name = f"{database}.limited"
    cli.ok("tables", "create", name, "id BIGINT, day STRING", "--primary-key", "id,day", "--partition-by", "day")
    for key in range(4):
        cli.ok("upsert", name, "-", "--format", "json", stdin=json.dumps({"id": key, "day": f"d{key % 2}"}) + "\n")
        for _ in range(key):
            cli.ok("delete", name, f"id=77,day=d{key % 2}", "--yes")

    def shown(command: str, *arguments: str) -> list[int]:
        return [row["id"] for row in cli.rows(command, name, *arguments)]

    assert shown("tail", "--limit", "1") == [3]  # and does not wait for more
    assert shown("tail", "-n", "3", "--no-follow") == [1, 2, 3]
    assert shown("changelog", "-n", "2", "--no-follow") == [2, 3]
    assert shown("changelog", "-n", "0", "--no-follow") == []
    assert shown("tail", "-n", "9", "--no-follow", "--partition", "d0") == [0, 2]
    assert shown("head", "-n", "3", "--metadata") == [0, 1, 2]
    assert shown("tail", "--from", "earliest", "--limit", "4") in ([0, 2, 1, 3], [1, 3, 0, 2])


def test_changes_do_not_look_like_rows(cli: Cli, table: str) -> None:
    """`tail` of a table with a key says first what each change was, `head` shows the rows that there are now."""
    cli.ok("upsert", table, "-", "--format", "json", stdin='{"id": 1, "name": "new", "at": null}\n')
    cli.ok("delete", table, "2", "--yes")
    last = cli.rows("tail", table, "-n", "1", "--no-follow")
    assert last == [{"_change_type": "delete", "id": 2, "name": None, "at": None}]
    some = ("tail", table, "--from", "earliest", "--no-follow", "--columns", "id")
    assert sorted(cli.ok(*some, "-o", "csv").splitlines()) == [
        *("_change_type,id", "delete,2", "insert,1", "insert,2", "insert,300", "update_after,1", "update_before,1")
    ]
    assert cli.ok(*some, "--where", "_change_type = 'delete'").split() == ["_change_type", "id", "delete", "2"]
    assert list(cli.rows(*some, "--metadata")[0]) == ["id", "_bucket", "_offset", "_timestamp", "_change_type"]
    assert sorted(row["id"] for row in cli.rows("head", table)) == [1, 300]
    assert cli.rows("head", table, "-n", "1", "--columns", "name") in ([{"name": "new"}], [{"name": ""}])


@pytest.mark.long
def test_changes_are_followed(cli: Cli, table: str) -> None:
    """A change that is made while the command waits is shown; Ctrl-C ends it well."""
    following = cli.start("changelog", table, "--from", "latest", "--columns", "id", "-o", "json")
    try:
        assert following.stdout is not None
        shown = []
        while not shown:  # the first change may be made before the command looks
            cli.ok("upsert", table, "-", "--format", "json", stdin='{"id": 9, "name": "x", "at": null}\n')
            shown.append(json.loads(following.stdout.readline()))
        assert shown[0]["id"] == 9
        following.send_signal(signal.SIGINT)
        assert following.wait(30) == 0
    finally:
        following.kill()
        following.communicate()


def test_log_tables_are_pointed_elsewhere(cli: Cli, database: str) -> None:
    """Commands that need a key say so; a dump of a log is all of its rows."""
    name = f"{database}.log"
    cli.ok("tables", "create", name, "id BIGINT, name STRING")
    (cli.directory / "log.csv").write_text("id,name\n1,a\n2,b\n")
    cli.ok("append", name, "log.csv")
    for command in (["upsert", name, "log.csv"], ["lookup", name, "1"], ["delete", name, "1", "--yes"]):
        refused = cli.run(*command)
        assert refused.returncode == 1
        assert "no primary key" in refused.stderr
    assert "lakeward tail" in cli.run("changelog", name).stderr
    assert sorted(row["id"] for row in cli.rows("dump", name)) == [1, 2]
