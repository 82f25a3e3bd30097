"""`lakeward tier` and `lakeward lake`, as a person types them, against a plain server."""

from __future__ import annotations

import re
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from cli_process import Cli
from eventually import eventually
from lake_tables import read_by_duckdb, read_by_pyiceberg
from server_process import ServerProcess

import lakeward

pytestmark = pytest.mark.slow
TIERED = (
    "-p", "table.datalake.enabled=true", "-p", "table.datalake.format=iceberg", "-p", "table.datalake.freshness=100ms"
)  # fmt: skip


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    """A plain server."""
    with ServerProcess(tmp_path_factory.mktemp("tier") / "data") as process:
        yield process


@pytest.fixture
def cli(server: ServerProcess, tmp_path: Path) -> Cli:
    """The command line against it."""
    return Cli(server.bootstrap, tmp_path)


@pytest.fixture
def table(server: ServerProcess, cli: Cli, database: str) -> Iterator[lakeward.Table]:
    """A lake table, made as the guide makes it."""
    cli.ok("tables", "create", f"{database}.orders", "id BIGINT, item STRING", *TIERED)
    with lakeward.connect(server.bootstrap) as connection:
        yield connection.table(f"{database}.orders")


@pytest.fixture
def service(cli: Cli) -> Iterator[subprocess.Popen[str]]:
    """A service that runs on threads."""
    process = cli.start("tier", "--warehouse", "lake", "--engine", "local", "--metrics-port", "0")
    yield process
    process.kill()
    process.communicate()


def status(cli: Cli, table: lakeward.Table) -> dict[str, Any]:
    """What is said of one table."""
    (found,) = cli.document("tier", "status", str(table.path))
    return found


def test_a_table_is_in_the_lake_and_its_status_is_shown(
    cli: Cli, table: lakeward.Table, service: subprocess.Popen[str]
) -> None:
    """From CREATE TABLE to a stock reader; SIGTERM ends the service with 0, and each round has a line."""
    table.append([{"id": i, "item": "x"} for i in range(100)])
    cli.ok("tier", "now", str(table.path), "--wait", "--timeout", "60")
    for read in (read_by_pyiceberg, read_by_duckdb):
        assert len(read(cli.directory / "lake", str(table.path))) == 100
    assert eventually(lambda: status(cli, table)["rows"] == 100)
    shown = status(cli, table)
    assert (shown["lag_rows"], shown["lag_seconds"], shown["files"]) == (0, 0.0, 1)
    assert shown["state"] in {"waiting", "tiering"}, "it is looked at ten times a second"
    assert str(table.path) in cli.ok("tier", "status")
    service.send_signal(signal.SIGTERM)
    out, err = service.communicate(timeout=60)
    assert service.returncode == 0, err
    assert f"{table.path}: 100 rows, 1 file, " in out
    assert "every round is finished" in err
    assert list((cli.directory / "lake" / ".lakeward-tiering").iterdir()) == [], "nothing is held any more"


def test_a_paused_table_waits(cli: Cli, table: lakeward.Table, service: subprocess.Popen[str]) -> None:
    """Until it is resumed, or once when it is asked for."""
    cli.ok("tier", "pause", str(table.path))
    table.append([{"id": 1, "item": "x"}])
    assert (status(cli, table)["state"], status(cli, table)["lag_rows"]) == ("paused", 1)
    cli.ok("tier", "now", str(table.path), "--wait", "--timeout", "60")
    table.append([{"id": 2, "item": "x"}])
    assert status(cli, table)["lag_rows"] == 1
    assert status(cli, table)["lag_seconds"] >= 0
    cli.ok("tier", "resume", str(table.path))
    cli.ok("tier", "resume", str(table.path))
    assert eventually(lambda: status(cli, table)["lag_rows"] == 0)


def test_a_failure_is_shown_with_its_reason(
    cli: Cli, server: ServerProcess, database: str, service: subprocess.Popen[str]
) -> None:
    """And when it is tried again; who waits for the table is told."""
    name = f"{database}.pairs"
    columns = "a BIGINT NOT NULL, b BIGINT NOT NULL"
    cli.ok("tables", "create", name, columns, "--primary-key", "a,b", *TIERED)
    assert eventually(lambda: cli.document("tier", "status", name)[0]["state"] == "failed", within_s=60)
    (found,) = cli.document("tier", "status", name)
    assert "exactly one column" in found["reason"]
    assert found["failed"] is not None


def test_a_table_that_is_not_tiered_is_told_how(cli: Cli, database: str) -> None:
    """In one sentence."""
    cli.ok("tables", "create", f"{database}.plain", "id BIGINT")
    done = cli.run("tier", "now", f"{database}.plain")
    assert done.returncode == 1
    assert "table.datalake.enabled=true" in done.stderr
    assert cli.document("tier", "status", f"{database}.plain")[0]["state"] == "new"


def test_files_of_a_crash_are_cleaned(cli: Cli, table: lakeward.Table, service: subprocess.Popen[str]) -> None:
    """Only those, and only when they are old enough."""
    table.append([{"id": 1, "item": "x"}])
    cli.ok("tier", "now", str(table.path), "--wait", "--timeout", "60")
    data = next((cli.directory / "lake").rglob("*.parquet"))
    stray = data.with_name("00000-01234567-89ab-cdef-0123-456789abcdef.parquet")
    stray.write_bytes(b"half a file")
    theirs = data.with_name("notes.parquet")
    theirs.write_bytes(b"not ours")
    options = ("--warehouse", str(cli.directory / "lake"))
    assert cli.ok("lake", "clean", str(table.path), *options) == ""
    found = cli.document("lake", "clean", str(table.path), *options, "--older-than", "0s", "--dry-run")
    assert found["files"] == [str(stray)]
    cli.ok("lake", "clean", str(table.path), *options, "--older-than", "0s", "--yes")
    assert not stray.exists()
    assert theirs.exists()
    assert data.exists()


def test_the_demo_ends_in_the_lake(cli: Cli) -> None:
    """Every order that was placed is in an Iceberg table on disk, and the person is told how to read it."""
    done = cli.run("demo", "--port", "0", "--data-dir", "demo", "--rate", "300", "--limit", "1500", "--engine", "local")
    assert done.returncode == 0, done.stderr
    assert "orders more in the lake" in done.stderr
    sums = re.findall(r"── ([\d,]+) orders? = ([\d,]+) in the lake \+ ([\d,]+) only in the log\n", done.stderr)
    assert sums
    assert "≠" not in done.stderr
    for union, cold, hot in ([int(n.replace(",", "")) for n in line] for line in sums):
        assert union == cold + hot
    assert "iceberg_scan('demo/lake/demo/orders')" in done.stderr
    for read in (read_by_pyiceberg, read_by_duckdb):
        ids = sorted(row["id"] for row in read(cli.directory / "demo" / "lake", "demo.orders"))
        assert len(ids) >= 1500
        assert ids == list(range(1, len(ids) + 1))


@pytest.mark.long
def test_the_demo_ends_when_it_is_told(cli: Cli) -> None:
    """Ctrl-C stops the stream, the count, the service and the server, and says what stays; no trace of Python."""
    running = cli.start("demo", "--port", "0", "--data-dir", "told", "--engine", "local")
    assert running.stdout is not None
    for line in running.stdout:
        if line.split()[0] == "20":
            break
    running.send_signal(signal.SIGINT)
    _, told = running.communicate(timeout=60)
    assert running.returncode == 0, told
    assert told.endswith("\nStopped.\nThe orders stay in told; the next run goes on from there.\n")
    assert "Traceback" not in told


@pytest.mark.long
@pytest.mark.timeout(240)
def test_the_demo_keeps_everything_in_a_bucket(cli: Cli) -> None:
    """With --s3 the lake, closed segments and metadata are in S3 when it ends, and a second run goes on with them."""
    for first_id, limit, engine in ((2, "900", "local"), (902, "5", "none")):
        where = ("--port", "0", "--data-dir", "demo-s3")
        done = cli.run("demo", "--s3", *where, "--rate", "100", "--limit", limit, "--engine", engine)
        assert done.returncode == 0, done.stderr
        ids = [int(line.split()[0]) for line in done.stdout.splitlines() if not line.lstrip().startswith("id")]
        assert ids[0] >= first_id
        for folder in ("lake", "remote"):
            assert re.search(rf"In s3://lakeward/{folder} are [1-9][\d,]* files", done.stderr), done.stderr
        if engine == "local":
            assert "orders more in the lake, s3://lakeward/lake" in done.stderr
            assert "≠" not in done.stderr
    assert (cli.directory / "demo-s3" / "keys.env").stat().st_mode & 0o077 == 0
    assert not list((cli.directory / "demo-s3" / "data").rglob("*.parquet"))
