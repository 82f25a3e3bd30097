"""The command line against a server, through processes as a person starts them."""

from __future__ import annotations

import gzip
import json
import signal
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from cli_process import Cli
from server_process import ServerProcess

_COLUMNS = "id BIGINT NOT NULL COMMENT 'the number', name STRING, at TIMESTAMP(3)"


@pytest.fixture
def cli(server: ServerProcess, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Cli:
    """The command line, pointed at the session's server, in a directory of the test's own."""
    monkeypatch.chdir(tmp_path)
    return Cli(server.bootstrap, tmp_path)


@pytest.fixture
def table(cli: Cli, database: str) -> str:
    """A table of this test's own, with two buckets."""
    name = f"{database}.t"
    cli.ok("tables", "create", name, _COLUMNS, "--buckets", "2")
    return name


def test_databases_live_and_die(cli: Cli, database: str) -> None:
    """Create, list, describe, drop; a second creation is refused unless told otherwise."""
    name = f"{database}_2"
    cli.ok("databases", "create", name, "--comment", "for tests")
    assert cli.run("databases", "create", name).returncode == 1
    cli.ok("databases", "create", name, "--if-not-exists")
    assert {"database": name} in cli.document("databases", "list")
    assert cli.document("databases", "describe", name)["comment"] == "for tests"
    cli.ok("databases", "drop", name)
    gone = cli.run("databases", "describe", name)
    assert gone.returncode == 1
    assert gone.stderr.startswith("Error: ")
    assert gone.stderr.count("\n") == 1


def test_a_table_is_described_as_it_was_created(cli: Cli, database: str) -> None:
    """Columns, keys, buckets and properties come back; rows and offsets are counted."""
    name = f"{database}.orders"
    cli.ok(
        *(
            "tables",
            "create",
            name,
            "id BIGINT, dt STRING, price DECIMAL(10, 2)",
            "--buckets",
            "3",
            "--bucket-by",
            "id",
        ),
        *("--partition-by", "dt", "-p", "table.log.ttl=1d", "--custom", "owner=me", "--comment", "some orders"),
    )
    told = cli.document("tables", "describe", name)
    assert [c["type"] for c in told["columns"]] == ["BIGINT", "STRING", "DECIMAL(10, 2)"]
    assert (told["buckets"], told["bucket_by"], told["partition_by"]) == (3, ["id"], ["dt"])
    assert told["properties"]["table.log.ttl"] == "1d"
    assert told["custom_properties"]["owner"] == "me"
    assert (told["comment"], told["rows"], told["partitions"]) == ("some orders", 0, [])
    assert "some orders" in cli.ok("tables", "describe", name)
    assert [t["table"] for t in cli.document("tables", "list", database)] == [name]
    assert cli.ok("tables", "list", database, "--names").splitlines() == ["TABLE", name]


def test_a_table_is_altered_and_dropped(cli: Cli, table: str, lakeward: ServerProcess) -> None:
    """Properties change, columns are added, and what is dropped is gone."""
    cli.ok("tables", "alter", table, "--set", "table.log.ttl=3d", "--add-column", "note STRING COMMENT 'free'")
    told = cli.document("tables", "describe", table)
    assert told["properties"]["table.log.ttl"] == "3d"
    assert told["columns"][-1] == {"column": "note", "type": "STRING", "nullable": True, "comment": "free"}
    cli.ok("tables", "alter", table, "--reset", "table.log.ttl")
    assert "table.log.ttl" not in cli.document("tables", "describe", table)["properties"]
    cli.ok("tables", "drop", table, "--yes")
    assert cli.run("tables", "drop", table, "--yes").returncode == 1
    cli.ok("tables", "drop", table, "--if-exists", "-y")


def test_a_mistake_in_the_columns_is_shown_where_it_is(cli: Cli, database: str) -> None:
    """The refusal points at the word."""
    wrong = cli.run("tables", "create", f"{database}.x", "id BIGNT")
    assert wrong.returncode == 1
    assert "BIGNT" in wrong.stderr
    assert "^" in wrong.stderr


def test_csv_goes_in_and_comes_out(cli: Cli, table: str) -> None:
    """Rows of a CSV file are typed by the table and read back in each form."""
    (cli.directory / "t.csv").write_text('id,name,at\n1,"a, b",2026-08-01 12:00:00.5\n2,,\n3,"",\n')
    assert cli.document("append", table, "t.csv")["rows"] == 3
    expected = [
        {"id": 1, "name": "a, b", "at": "2026-08-01T12:00:00.500"},
        {"id": 2, "name": None, "at": None},
        {"id": 3, "name": "", "at": None},
    ]
    assert cli.rows("tail", table, "--no-follow") == expected
    assert cli.rows("head", table) == expected
    assert cli.ok("tail", table, "--no-follow", "-o", "csv", "--columns", "name,id").splitlines()[1:] == [
        *('"a, b",1', ",2", '"",3')
    ]
    assert cli.ok("head", table, "--columns", "id", "-n", "2").split() == ["id", "1", "2"]


def test_a_bad_line_stops_the_append_there(cli: Cli, table: str) -> None:
    """File and line are told, the rows before it are in the table, none after it is."""
    (cli.directory / "t.csv").write_text("id,name\n1,a\n2,b\nx,c\n4,d\n")
    wrong = cli.run("append", table, "t.csv")
    assert wrong.returncode == 1
    assert "t.csv, line 4: column 'id' is BIGINT NOT NULL; \"x\" does not fit" in wrong.stderr
    assert "2 rows before it" in wrong.stderr
    assert [row["id"] for row in cli.rows("tail", table, "--no-follow")] == [1, 2]


def test_a_table_is_created_from_a_file(cli: Cli, database: str) -> None:
    """--create and --from take the columns of a Parquet file; several files follow each other, packed or not."""
    pq.write_table(pa.table({"a": pa.array([1, 2], pa.int32()), "b": ["x", None]}), cli.directory / "t.parquet")
    (cli.directory / "t.jsonl.gz").write_bytes(gzip.compress(b'{"a": 3, "b": "z"}\n'))
    name = f"{database}.made"
    cli.ok("append", name, "t.parquet", "t.jsonl.gz", "--create")
    assert [(r["a"], r["b"]) for r in cli.rows("tail", name, "--no-follow")] == [(1, "x"), (2, None), (3, "z")]
    cli.ok("tables", "create", f"{database}.like", "--from", "t.parquet")
    assert cli.document("tables", "describe", f"{database}.like")["columns"][0]["type"] == "INT"


def test_tail_follows_and_ends_with_ctrl_c(cli: Cli, table: str) -> None:
    """The last rows come first, then those appended meanwhile; Ctrl-C is a good end."""
    cli.ok("append", table, "-", "--format", "json", stdin='{"id": 1}\n{"id": 2}\n{"id": 3}\n')
    following = cli.start("tail", table, "-n", "2", "-o", "json")
    assert following.stdout is not None
    assert [json.loads(following.stdout.readline())["id"] for _ in range(2)] == [2, 3]
    cli.ok("append", table, "-", "--format", "json", stdin='{"id": 4}\n')
    assert json.loads(following.stdout.readline())["id"] == 4
    following.send_signal(signal.SIGINT)
    _, told = following.communicate()
    assert (following.returncode, told) == (0, "")


def test_rows_of_a_pipe_are_sent_as_they_come(cli: Cli, table: str) -> None:
    """A row is in the table while its pipe is still open."""
    appending = cli.start("append", table, "-", "--format", "csv")
    following = cli.start("tail", table, "--from", "earliest", "--limit", "2", "-o", "json")
    assert appending.stdin is not None
    assert following.stdout is not None
    appending.stdin.write("id,name\n1,a\n")
    appending.stdin.flush()
    assert json.loads(following.stdout.readline())["id"] == 1
    told, wrong = appending.communicate("2,b\n")
    assert (appending.returncode, wrong) == (0, "")
    assert told == f"Appended 2 rows to {table}.\n"
    assert json.loads(following.stdout.readline())["id"] == 2
    assert following.communicate() == ("", "")
    assert following.returncode == 0


def test_a_closed_pipe_is_quiet(cli: Cli, table: str) -> None:
    """`lakeward tail … | head` ends without complaint."""
    rows = "".join(f'{{"id": {i}, "name": "{"x" * 100}"}}\n' for i in range(5000))
    cli.ok("append", table, "-", "--format", "json", stdin=rows)
    reading = cli.start("tail", table, "--from", "earliest", "-o", "json")
    assert reading.stdout is not None
    reading.stdout.readline()
    reading.stdout.close()
    assert reading.stderr is not None
    assert reading.stderr.read() == ""
    reading.stderr.close()
    assert reading.stdin is not None
    reading.stdin.close()
    assert reading.wait() == 0


def test_a_closed_pipe_ends_a_wait_too(cli: Cli, table: str) -> None:
    """`lakeward tail … | head -1` ends on a table that gets no more rows."""
    cli.ok("append", table, "-", "--format", "json", stdin='{"id": 1}\n')
    for command in (("tail", table), ("tail", table, "-o", "json")):
        reading = cli.start(*command)
        assert reading.stdout is not None
        reading.stdout.readline()
        reading.stdout.close()
        assert reading.stderr is not None
        with reading.stderr:
            assert reading.stderr.read() == ""
        assert reading.stdin is not None
        reading.stdin.close()
        assert reading.wait(30) == 0


def test_reading_can_begin_anywhere(cli: Cli, table: str) -> None:
    """At the beginning, at an offset, at a time; and it can stop after some rows."""
    cli.ok("append", table, "-", "--format", "json", stdin="".join(f'{{"id": {i}}}\n' for i in range(20)))

    def ids(*arguments: str) -> list[int]:
        return sorted(row["id"] for row in cli.rows("tail", table, *arguments))

    assert ids("--from", "earliest", "--no-follow") == list(range(20))
    assert ids("--from", "1h-ago", "--no-follow") == list(range(20))
    assert ids("--from", "latest", "--no-follow") == []
    assert ids("--from", "10000", "--no-follow") == []
    assert len(ids("--from", "earliest", "--limit", "7")) == 7
    assert ids("--no-follow", "-n", "3") == [17, 18, 19]
    shown = cli.rows("tail", table, "--no-follow", "-n", "1", "--metadata")[0]
    assert shown["_offset"] == cli.document("offsets", table)[shown["_bucket"]]["latest"] - 1
    assert sum(bucket["rows"] for bucket in cli.document("offsets", table)) == 20
    assert all(bucket["offset"] == 0 for bucket in cli.document("offsets", table, "--at", "1h-ago"))


def test_partitions_live_and_die(cli: Cli, database: str) -> None:
    """Create, list, read one, drop; a writer creates what it needs."""
    name = f"{database}.parts"
    cli.ok("tables", "create", name, "id INT, dt STRING", "--partition-by", "dt")
    cli.ok("partitions", "create", name, "dt=2026-08-01")
    cli.ok("append", name, "-", "--format", "csv", stdin="id,dt\n1,2026-08-01\n2,2026-08-02\n")
    assert [p["partition"] for p in cli.document("partitions", "list", name)] == ["2026-08-01", "2026-08-02"]
    assert cli.rows("tail", name, "--no-follow", "--partition", "dt=2026-08-02") == [{"id": 2, "dt": "2026-08-02"}]
    assert cli.rows("head", name, "--partition", "2026-08-01") == [{"id": 1, "dt": "2026-08-01"}]
    unknown = cli.run("tail", name, "--partition", "nope")
    assert "its partitions are: 2026-08-01, 2026-08-02" in unknown.stderr
    cli.ok("partitions", "drop", name, "dt=2026-08-01", "--yes")
    assert len(cli.document("partitions", "list", name)) == 1


def test_partitions_of_a_table_without_any_are_refused(cli: Cli, table: str) -> None:
    """The refusal says what a table needs to have partitions."""
    assert "--partition-by" in cli.run("partitions", "list", table).stderr


def test_the_cluster_is_described(cli: Cli, lakeward: ServerProcess) -> None:
    """Its servers and options are listed, and a wrong option is refused."""
    roles = {server["role"]: server["port"] for server in cli.document("cluster", "describe")}
    assert roles == {"coordinator": lakeward.port, "tablet": lakeward.port}
    assert "data.dir" in [option["option"] for option in cli.document("cluster", "options", "data.")]
    assert cli.run("cluster", "set", "no.such.option=1").returncode == 1
    assert cli.run("cluster", "set").returncode == 2


def test_names_complete_from_the_server(cli: Cli, table: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A shell that asks for a table's name gets those the server has, and none when it does not answer."""
    monkeypatch.setenv("_LAKEWARD_COMPLETE", "bash_complete")
    monkeypatch.setenv("COMP_WORDS", f"lakeward tables describe {table[:6]}")
    monkeypatch.setenv("COMP_CWORD", "3")
    assert f"plain,{table}" in cli.run().stdout.splitlines()
    assert Cli("localhost:1", cli.directory).run().stdout.strip() == ""


def test_without_a_server_one_sentence_is_said(cli: Cli) -> None:
    """The most common first mistake is explained, without a trace."""
    done = cli.run("-s", "localhost:1", "tables", "list")
    assert done.returncode == 1
    assert done.stdout == ""
    assert "localhost:1" in done.stderr
    assert "lakeward serve" in done.stderr
    assert "Traceback" not in done.stderr
    assert "Traceback" in cli.run("tables", "list", "-s", "localhost:1", "--debug").stderr


def test_bench_measures_and_leaves_nothing_behind(cli: Cli) -> None:
    """Each step is reported, and the table is gone afterwards."""
    told = cli.document("bench", "--rows", "2000", "--single-rows", "5", "--batch-rows", "500")
    assert [result["work"] for result in told["results"]] == [
        *("append", "scan", "scan 2 of 10 columns", "one row acknowledged", "one row until a reader has it")
    ]
    assert not [t for t in cli.document("tables", "list", "fluss") if "lakeward_bench" in t["table"]]


@pytest.mark.long
def test_the_demo_runs_and_stops_by_itself(cli: Cli) -> None:
    """A server starts, orders flow, the tail shows them, everything ends; the next run goes on with the numbers."""
    for first_id in (2, 8):
        done = cli.run(
            "demo", "--port", "0", "--data-dir", "demo", "--rate", "1000", "--limit", "5", "--engine", "none"
        )
        assert done.returncode == 0, done.stderr
        lines = [line.split() for line in done.stdout.splitlines() if not line.lstrip().startswith("id")]
        assert len(lines) == 5
        assert int(lines[0][0]) >= first_id
        assert "Lakeward is ready at localhost:" in done.stderr
