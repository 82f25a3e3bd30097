"""`lakeward verify` and `lakeward repair`, as a person types them: wrong names, lost files, and counts afterwards."""

from __future__ import annotations

import json
import shlex
import shutil
from pathlib import Path

import pytest
from cli_process import Cli
from server_process import ServerProcess

import lakeward
from lakeward.errors import CorruptError


@pytest.fixture
def stopped(tmp_path: Path) -> ServerProcess:
    """A server that was stopped; its directory needs quotes."""
    with ServerProcess(tmp_path / "my data") as server, lakeward.connect(server.bootstrap) as conn:
        conn.create_database("shop")
        for name in ("kill", "orders"):
            conn.create_table(f"shop.{name}", "id BIGINT", buckets=1).append([{"id": i} for i in range(10)])
        days = conn.create_table("shop.days", "id BIGINT, day STRING", buckets=1, partition_by=["day"])
        days.create_partition({"day": "2026"})
        days.append([{"id": i, "day": "2026"} for i in range(10)])
        server.stop()
    return server


@pytest.fixture
def cli(stopped: ServerProcess, tmp_path: Path) -> Cli:
    """The command line beside it."""
    return Cli(stopped.bootstrap, tmp_path)


@pytest.mark.parametrize(
    "wrong",
    [
        ("verify", "shop.ordrs", "--data-dir", "my data"),
        ("repair", "shop.ordrs", "0", "0", "5", "--data-dir", "my data"),
    ],
)
def test_a_table_that_is_not_there_is_refused(cli: Cli, wrong: tuple[str, ...]) -> None:
    """Nothing read is not everything whole."""
    done = cli.run(*wrong)
    assert done.returncode == 2
    assert "has no table shop.ordrs" in done.stderr
    assert "Did you mean shop.orders?" in done.stderr
    assert done.stdout == ""


@pytest.mark.parametrize("command", [("verify",), ("repair", "shop.orders", "0", "0", "5"), ("metadata", "repair")])
def test_another_directory_is_refused(cli: Cli, command: tuple[str, ...]) -> None:
    """The parent hears which one was meant, an empty one that it is none; neither is touched."""
    (cli.directory / "empty").mkdir(mode=0o755)
    parent, empty = (cli.run(*command, "--data-dir", place) for place in (".", "empty"))
    assert (parent.returncode, empty.returncode) == (2, 2)
    assert "is no data directory of Lakeward: no metadata files are in it. Did you mean my data?" in parent.stderr
    assert "no metadata files are in it" in empty.stderr
    assert list((cli.directory / "empty").iterdir()) == []
    assert not (cli.directory / "lakeward.lock").exists()


def _lose(log: Path, what: str) -> None:
    if "directory" in what:
        shutil.rmtree(log)
    for path in log.glob("*.log"):
        path.unlink()


@pytest.mark.covering("killed")
@pytest.mark.parametrize("what", ["file", "directory", "directory of a killed server"])
def test_a_lost_log_is_told_given_up_and_not_counted(stopped: ServerProcess, cli: Cli, what: str) -> None:
    """Of all tables at once; what the server tells a reader is a command that can be typed as it stands."""
    if "killed" in what:
        with stopped, lakeward.connect(stopped.bootstrap) as conn:
            conn.table("shop.kill").append([{"id": 10}])
            stopped.kill()
    for log in (*stopped.data_dir.glob("shop/kill-*/log-0"), *stopped.data_dir.glob("shop/days-*/*-p*/log-0")):
        _lose(log, what)
    told = cli.run("verify", "--data-dir", "my data", "-o", "json")
    assert told.returncode == 1, told.stderr
    report = json.loads(told.stdout)
    assert report["buckets"] == 3
    assert [(row["table"], row["first"]) for row in report["damaged"]] == [("shop.days", 0), ("shop.kill", 0)]
    if "killed" not in what:
        assert [row["end"] for row in report["damaged"]] == [10, 10]
    remedies = {row["table"]: row["remedy"] for row in report["damaged"]}
    with stopped, lakeward.connect(stopped.bootstrap) as conn:
        for table, remedy in remedies.items():
            with pytest.raises(CorruptError) as wrong:
                conn.table(table).scan().to_arrow()
            assert f"`{remedy}`" in str(wrong.value)
            assert f"`{remedy}`" in stopped.log_text
    for remedy in remedies.values():
        done = cli.run(*shlex.split(remedy)[1:])
        assert done.returncode == 0, done.stderr
    assert cli.run("verify", "--data-dir", "my data").returncode == 0
    with stopped, lakeward.connect(stopped.bootstrap) as conn:
        listed = {row["table"]: row["rows"] for row in Cli(stopped.bootstrap, cli.directory).document("tables", "list")}
        for name, rows in {"shop.kill": 0, "shop.days": 0, "shop.orders": 10}.items():
            table = conn.table(name)
            assert (listed[name], table.count(), len(table.scan().to_arrow())) == (rows, rows, rows)
        table = conn.table("shop.kill")
        table.append([{"id": 7}])
        assert (table.count(), table.scan().to_arrow()["id"].to_pylist()) == (1, [7])
