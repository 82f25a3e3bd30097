"""Damage of stored segments: every read is exact, or an error that names the range; offsets are never given twice."""

from __future__ import annotations

import asyncio
import json
import shutil
import urllib.request
from collections.abc import Callable
from pathlib import Path

import fluss
import pyarrow as pa
import pytest
from arrow_batches import arrow_batch
from click.testing import CliRunner
from damage import KINDS, cut, flip, read_all, segments_of
from eventually import eventually
from pyfluss_session import Session
from server_process import ServerProcess
from wire_client import WireCluster
from wire_tables import LATEST, WireTable, create_database

from lakeward.cli.main import cli
from lakeward.protocol.messages.shared import PbTablePath

NewServer = Callable[..., ServerProcess]
SCHEMA = pa.schema([("id", pa.int64()), ("n", pa.int64())])
PROJECTED = pa.schema([("n", pa.int64())])
ROWS, PER_BATCH = 240, 10
PATH = PbTablePath(database_name="db", table_name="t")


def rows_batch(first: int, count: int = PER_BATCH) -> bytearray:
    """A batch of numbered rows."""
    ids = list(range(first, first + count))
    return arrow_batch(pa.record_batch([pa.array(ids), pa.array([i * 7 for i in ids])], schema=SCHEMA))


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data directory with one log of several segments, of a server that was stopped."""
    directory = tmp_path_factory.mktemp("written") / "data"
    with ServerProcess(directory, log__segment__file_size="2kb") as server:
        with WireCluster.of(server.bootstrap) as cluster:
            create_database(cluster, "db")
            table = WireTable.create(cluster, "db", "t", ("id", "BIGINT"), ("n", "BIGINT"))
            for first in range(0, ROWS, PER_BATCH):
                table.append(rows_batch(first))
        server.stop()
    assert len(segments_of(directory)) > 4
    return directory


@pytest.fixture
def server(written: Path, tmp_path: Path) -> ServerProcess:
    """A server on a copy of those files, not yet started."""
    shutil.copytree(written, tmp_path / "data")
    return ServerProcess(tmp_path / "data", log__segment__file_size="2kb")


def check(server: ServerProcess, *, is_damaged: bool = True) -> list[tuple[int, int]]:
    """Full and projected reads agree: all rows but those of the ranges that were errors; appends go behind them."""
    with WireCluster.of(server.bootstrap) as cluster:
        table = WireTable.find(cluster, PATH)
        full, errors = read_all(table, SCHEMA)
        projected, same = read_all(table, PROJECTED, columns=(1,))
        assert same == errors
        assert bool(errors) == is_damaged
        left = [i for i in range(ROWS) if not any(first <= i < end for first, end in errors)]
        assert full == [{"id": i, "n": i * 7} for i in left]
        assert projected == [{"n": i * 7} for i in left]
        assert table.append(rows_batch(1000)) == table.offset(LATEST) - PER_BATCH >= ROWS
    return errors


@pytest.mark.covering
@pytest.mark.parametrize("restart", [True, False], ids=["restarted", "running"])
@pytest.mark.parametrize("which", [0, 2, -1], ids=["oldest", "middle", "newest"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_damaged_segment_is_an_error_for_its_range_only(
    server: ServerProcess, kind: str, which: int, restart: bool
) -> None:
    """Whatever happens to a file: what is whole is read, what is not is told, and nothing is written in its place."""
    if restart:
        KINDS[kind](segments_of(server.data_dir)[which])
        server.start()
    else:
        server.start()
        with WireCluster.of(server.bootstrap) as cluster:
            read_all(WireTable.find(cluster, PATH), SCHEMA)
        KINDS[kind](segments_of(server.data_dir)[which])
    with server:
        is_open = not restart and kind == "deleted"  # whoever has a file open goes on reading it
        errors = check(server, is_damaged=not is_open)
        assert server.is_running
        if not is_open:
            assert "are damaged" in server.log_text
            assert "lakeward repair db.t 0" in server.log_text
            assert errors == sorted(errors)


@pytest.fixture(autouse=True)
def no_second_start(monkeypatch: pytest.MonkeyPatch) -> None:
    """`with server` ends a server that was started before."""
    monkeypatch.setattr(ServerProcess, "__enter__", lambda self: self if self.is_running else self.start())


@pytest.mark.covering
@pytest.mark.parametrize("suffix", ["index", "timeindex", "writer_snapshot", "json"])
@pytest.mark.parametrize("kind", ["deleted", "emptied", "cut", "flipped row"])
def test_small_files_may_be_damaged_without_loss(server: ServerProcess, suffix: str, kind: str) -> None:
    """Indexes, checkpoints and what stands beside the log are made again from the segments."""
    for path in [*server.data_dir.glob(f"*/*/log-0/*.{suffix}"), *server.data_dir.glob(f"*/*/log-0.{suffix}")]:
        if path.stat().st_size:
            KINDS[kind](path)
    with server:
        check(server, is_damaged=False)


async def test_the_official_client_is_told(server: ServerProcess) -> None:
    """pyfluss raises at the damaged range, and reads on behind it when it is asked to."""
    flip(segments_of(server.data_dir)[2], 500)
    with server:
        errors = check(server)
        async with await Session.open(server.bootstrap, "db") as session:
            table = await session.table("t")
            for columns in (None, ["n"]):
                scan = table.new_scan() if columns is None else table.new_scan().project_by_name(columns)
                scanner = await scan.create_log_scanner()
                scanner.subscribe_buckets({0: fluss.EARLIEST_OFFSET})
                found: list[object] = []
                with pytest.raises(fluss.FlussError, match=f"Offsets {errors[0][0]} to"):
                    await _poll_into(found, scanner)
                assert len(found) == errors[0][0]


async def _poll_into(found: list[object], scanner: fluss.LogScanner) -> None:
    while True:
        found += list(await asyncio.wait_for(scanner.poll(1000), 20))


@pytest.mark.covering
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("which", [0, 2, -1], ids=["oldest", "middle", "newest"])
async def test_a_range_that_was_given_up_is_passed_by_everybody(server: ServerProcess, kind: str, which: int) -> None:
    """verify tells of it, repair writes it off and nothing else, and readers of all kinds go on after it."""
    KINDS[kind](segments_of(server.data_dir)[which])
    told = run("verify", "--data-dir", str(server.data_dir), "-o", "json", code=1)
    (damaged,) = json.loads(told)["damaged"]
    first, end = damaged["first"], damaged["end"]
    assert damaged["remedy"] in run("verify", "--data-dir", str(server.data_dir), code=1, err=True)
    run("repair", "db.t", "0", str(first), str(end + 1), "--data-dir", str(server.data_dir), code=1)
    run(*damaged["remedy"].split()[1:])
    after = json.loads(run("verify", "--data-dir", str(server.data_dir), "-o", "json"))
    assert [(one["first"], one["end"]) for one in after["given_up"]] == [(first, end)]
    left = [i for i in range(ROWS) if not first <= i < end]
    with server:
        with WireCluster.of(server.bootstrap) as cluster:
            table = WireTable.find(cluster, PATH)
            assert [row["id"] for row in read_all(table, SCHEMA)[0]] == left
            assert [row["n"] for row in read_all(table, PROJECTED, columns=(1,))[0]] == [i * 7 for i in left]
            assert table.append(rows_batch(1000)) == ROWS
        async with await Session.open(server.bootstrap, "db") as session:
            found = await session.table("t")
            scanner = await found.new_scan().create_record_batch_log_scanner()
            scanner.subscribe_buckets({0: fluss.EARLIEST_OFFSET})
            rows = await asyncio.wait_for(scanner.to_arrow(), 20)
            assert rows["id"].to_pylist() == [*left, *range(1000, 1000 + PER_BATCH)]
        assert f"offsets {first} to {end - 1} were given up" in server.log_text


def run(*arguments: str, code: int = 0, err: bool = False) -> str:
    """Run a command; what it printed."""
    done = CliRunner().invoke(cli, arguments)
    assert done.exit_code == code, done.output
    return done.stderr if err else done.stdout


def test_a_running_server_is_verified_but_not_repaired(server: ServerProcess) -> None:
    """Looking is harmless; writing needs the directory for itself."""
    flip(segments_of(server.data_dir)[1], 500)
    with server:
        (damaged,) = json.loads(run("verify", "--data-dir", str(server.data_dir), "-o", "json", code=1))["damaged"]
        assert "in use" in run(*damaged["remedy"].split()[1:], code=1, err=True)


def test_the_scrubber_finds_what_nobody_reads(server: ServerProcess) -> None:
    """Rot in a cold segment is told by the log, the metrics and the health of the server, without any reader."""
    flip(segments_of(server.data_dir)[1], 500)
    server.options |= {"log.scrub.interval": "100ms", "log.scrub.rate": "100mb"}
    with server:
        assert eventually(lambda: "are damaged" in server.log_text)
        with urllib.request.urlopen(f"http://{server.bootstrap}/health") as answer:
            health = json.load(answer)
        assert health["status"] == "damaged"
        assert health["damaged"][0]["log"] == "db.t 0"
        with urllib.request.urlopen(f"http://{server.bootstrap}/metrics") as answer:
            assert "lakeward_damaged_ranges 1" in answer.read().decode()


def test_a_segment_cut_under_a_running_server_does_not_kill_it(server: ServerProcess) -> None:
    """Large reads are answered from what is there, not from a map of what was there."""
    with server:
        with WireCluster.of(server.bootstrap) as cluster:
            read_all(WireTable.find(cluster, PATH), PROJECTED, columns=(1,))
        for path in segments_of(server.data_dir):
            cut(path, 100)
        check(server)
        assert server.is_running
