"""Into the lake without ceremony: a plain server, tables that nobody meant for a lake, and then `lakeward tier`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from cli_process import Cli
from lake_tables import read_by_duckdb, read_by_pyiceberg
from server_process import ServerProcess

import lakeward
from lakeward.runtime.process.child import Child

pytestmark = pytest.mark.slow
_ENABLED = ("--set", "table.datalake.enabled=true", "--set", "table.datalake.freshness=100ms")


@pytest.fixture
def cli(tmp_path: Path) -> Iterator[Cli]:
    """The command line against a server that has never heard of a lake."""
    with ServerProcess(tmp_path / "data") as server:
        made = Cli(server.bootstrap, tmp_path)
        made.ok("databases", "create", "shop")
        yield made


@pytest.fixture
def conn(cli: Cli) -> Iterator[lakeward.Connection]:
    """A connection to it."""
    with lakeward.connect(cli.bootstrap) as connection:
        yield connection


def tier(cli: Cli, *where: str) -> Child:
    """A service that runs on threads."""
    return cli.start("tier", "--engine", "local", *where)


def ended(service: Child) -> str:
    """Stop a service; all it said."""
    service.terminate()
    out, err = service.communicate(timeout=60)
    return str(out) + str(err)


KINDS = {
    "log": ("id BIGINT, v STRING",),
    "bucketed": ("id BIGINT, v STRING", "--buckets", "3", "--bucket-by", "id"),
    "keyed": ("id BIGINT, v STRING", "--buckets", "3", "--primary-key", "id"),
    "two_keys": ("id BIGINT, v STRING, n BIGINT", "--buckets", "3", "--primary-key", "id,v"),
}


def test_any_table_can_be_tiered_later(cli: Cli, conn: lakeward.Connection) -> None:
    """Log and primary key tables with rows in them; keys are found as before, and stock readers read all of it."""
    for kind, columns in KINDS.items():
        cli.ok("tables", "create", f"shop.{kind}", *columns)
        table = conn.table(f"shop.{kind}")
        rows = [{"id": i, "v": "a"} | ({"n": i} if kind == "two_keys" else {}) for i in range(100)]
        if "key" in kind:
            table.upsert(rows)
        else:
            table.append(rows)
        hint = cli.run("tier", "now", f"shop.{kind}")
        assert "--set table.datalake.enabled=true" in hint.stderr
        cli.ok("tables", "alter", f"shop.{kind}", *_ENABLED)
    service = tier(cli, "--warehouse", "lake")
    try:
        for kind in KINDS:
            cli.ok("tier", "now", f"shop.{kind}", "--wait", "--timeout", "60")
        conn.table("shop.keyed").upsert([{"id": i, "v": "b"} for i in range(50, 150)])
        cli.ok("tier", "now", "shop.keyed", "--wait", "--timeout", "60")
    finally:
        told = ended(service)
    assert "The cluster knows its lake from now on: iceberg at" in told
    for kind in KINDS:
        for read in (read_by_pyiceberg, read_by_duckdb):
            found = sorted((row["id"], row["v"]) for row in read(cli.directory / "lake", f"shop.{kind}"))
            expected = [(i, "a") for i in range(100)]
            if kind == "keyed":
                expected = [(i, "a" if i < 50 else "b") for i in range(150)]
            assert found == expected, kind
    keyed = lakeward.connect(cli.bootstrap)
    with keyed as again:
        assert again.table("shop.keyed").lookup([7, 149]).column("v").to_pylist() == ["a", "b"]
        assert "table.datalake.format" not in again.table("shop.keyed").info.descriptor.properties
        assert cli.rows("sql", "SELECT count(*) n, max(v) v FROM shop.keyed") == [{"n": 150, "v": "b"}]


def test_a_service_without_a_lake_says_so_at_once(cli: Cli) -> None:
    """It is a mistake in the command line, not one of each table for ever; the second service needs no word."""
    refused = cli.run("tier", "--engine", "local")
    assert refused.returncode == 2
    assert "Where is the lake?" in refused.stderr
    first = tier(cli, "--warehouse", "lake")
    assert first.stderr is not None
    assert any("are tiered into" in line for line in first.stderr)
    ended(first)
    second = tier(cli)
    assert second.stderr is not None
    assert any(f"are tiered into {cli.directory / 'lake'}" in line for line in second.stderr)
    ended(second)


@pytest.mark.parametrize(
    ("place", "told", "code"),
    [
        ("afile", "afile: it is a file, not a directory.", 1),
        ("afile/below", "Not a directory", 1),
        ("s3:/typo/x", "lacks slashes: write s3://typo/x", 2),
        ("file:/typo", "lacks slashes: write file:///typo", 2),
    ],
)
def test_a_place_that_cannot_be_a_lake_is_not_remembered(
    cli: Cli, conn: lakeward.Connection, place: str, told: str, code: int
) -> None:
    """It is tried first; the next service may name the right one."""
    (cli.directory / "afile").touch()
    refused = cli.run("tier", "--engine", "local", "--warehouse", place)
    assert (refused.returncode, refused.stdout) == (code, "")
    assert told in refused.stderr
    assert "knows its lake" not in refused.stderr
    assert not any(option.key.startswith("datalake.") and option.value for option in conn.cluster_options())
    assert {path.name for path in cli.directory.iterdir()} == {"data", "data.log", "afile"}


@pytest.mark.long
def test_a_table_that_nobody_has_begun_is_explained(cli: Cli, conn: lakeward.Connection) -> None:
    """It may be held for a service that was killed."""
    cli.ok("tables", "create", "shop.t", "id BIGINT", "-p", "table.datalake.enabled=true")
    conn.table("shop.t").append([{"id": 1}])
    assert "up to two minutes" in cli.run("tier", "status").stderr


@pytest.mark.long
def test_a_service_that_names_another_lake_is_told(cli: Cli, conn: lakeward.Connection) -> None:
    """A table is not tiered again elsewhere, unless somebody says so; and by looking nothing is made."""
    cli.ok("tables", "create", "shop.t", "id BIGINT", "-p", "table.datalake.enabled=true")
    conn.table("shop.t").append([{"id": 1}])
    first = tier(cli, "--warehouse", "lake")
    cli.ok("tier", "now", "shop.t", "--wait", "--timeout", "60")
    ended(first)
    conn.table("shop.t").append([{"id": 2}])
    second = tier(cli, "--warehouse", "nowhere")
    failed = cli.run("tier", "now", "shop.t", "--wait", "--timeout", "60")
    assert failed.returncode == 1
    assert f"shop.t is in the lake at {cli.directory / 'lake'}, and not at {cli.directory / 'nowhere'}" in failed.stderr
    assert not (cli.directory / "nowhere" / "catalog.db").exists()
    cli.ok("tables", "alter", "shop.t", "--set", f"lakeward.lake.warehouse={cli.directory / 'nowhere'}")
    cli.ok("tier", "now", "shop.t", "--wait", "--timeout", "60")
    ended(second)
    assert len(read_by_pyiceberg(cli.directory / "nowhere", "shop.t")) == 2


@pytest.mark.long
def test_a_reader_that_names_another_lake_is_told(cli: Cli, conn: lakeward.Connection) -> None:
    """One that names none finds it; one that names a wrong one hears of the right one, and leaves no catalog there."""
    cli.ok("tables", "create", "shop.t", "id BIGINT", "-p", "table.datalake.enabled=true")
    conn.table("shop.t").append([{"id": 1}])
    service = tier(cli, "--warehouse", "lake")
    cli.ok("tier", "now", "shop.t", "--wait", "--timeout", "60")
    ended(service)
    assert cli.rows("sql", "SELECT * FROM shop.t") == [{"id": 1}]
    for wrong in ("typo", "typo/deeper"):
        told = cli.run("sql", "SELECT * FROM shop.t", "--warehouse", wrong)
        assert told.returncode == 1
        assert f"shop.t is in the lake at {cli.directory / 'lake'}" in told.stderr
        assert not (cli.directory / wrong).exists()
