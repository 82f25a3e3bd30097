"""The file that is written to, damaged while rows in it are younger than the last checkpoint, and the server killed."""

from __future__ import annotations

import json
import shutil
import struct
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest
from arrow_batches import arrow_batch
from click.testing import CliRunner
from damage import cut, read_all, segments_of
from server_process import ServerProcess
from wire_client import WireCluster
from wire_tables import LATEST, WireTable, create_database

import lakeward
from lakeward.cli.main import cli
from lakeward.errors import CorruptError
from lakeward.protocol.messages.shared import PbTablePath
from lakeward.records.batch.batch_header import BATCH_V0
from lakeward.records.batch.log_batch import seal, stamp

SCHEMA = pa.schema([("id", pa.int64()), ("n", pa.int64())])
PATH = PbTablePath(database_name="db", table_name="t")
ROWS, PER_BATCH = 120, 10


def _whole_directory(path: Path) -> None:
    shutil.rmtree(path.parent)


KINDS: dict[str, Callable[[Path], None]] = {
    "deleted": Path.unlink,
    "emptied": lambda path: cut(path, 0),
    "cut": lambda path: cut(path, 200),
    "deleted with its directory": _whole_directory,
}


def rows_batch(first: int, count: int = PER_BATCH) -> bytearray:
    """A batch of numbered rows."""
    ids = list(range(first, first + count))
    return arrow_batch(pa.record_batch([pa.array(ids), pa.array([i * 7 for i in ids])], schema=SCHEMA))


@pytest.fixture
def killed(tmp_path: Path) -> ServerProcess:
    """A server that was killed before any checkpoint knew the rows of its last segment."""
    server = ServerProcess(tmp_path / "data", log__segment__file_size="3kb").start()
    with WireCluster.of(server.bootstrap) as cluster:
        create_database(cluster, "db")
        table = WireTable.create(cluster, "db", "t", ("id", "BIGINT"), ("n", "BIGINT"))
        for first in range(0, ROWS, PER_BATCH):
            table.append(rows_batch(first))
    server.kill()
    last = segments_of(server.data_dir)[-1]
    checkpoints = [int(path.stem) for path in last.parent.glob("*.writer_snapshot")]
    assert int(last.stem) <= max([*checkpoints, int(last.stem)]) < ROWS - PER_BATCH  # what is lost left no checkpoint
    return server


@pytest.mark.parametrize("kind", KINDS)
def test_offsets_of_rows_that_nobody_remembers_are_not_given_again(killed: ServerProcess, kind: str) -> None:
    """The rows were acknowledged and are lost: an error tells it, and new rows stand where none ever stood."""
    last = segments_of(killed.data_dir)[-1]
    whole = 0 if "directory" in kind else int(last.stem)
    KINDS[kind](last)
    with killed, WireCluster.of(killed.bootstrap) as cluster:
        table = WireTable.find(cluster, PATH)
        rows, errors = read_all(table, SCHEMA)
        left = [row["id"] for row in rows]
        assert left == list(range(len(left)))
        assert whole <= len(left) < ROWS
        ((first, end),) = errors
        assert (first, end) == (len(left), table.offset(LATEST))
        assert end >= ROWS
        assert table.append(rows_batch(1000)) == end
        assert killed.is_running
        killed.kill()
    with killed, WireCluster.of(killed.bootstrap) as cluster:
        table = WireTable.find(cluster, PATH)
        rows, errors = read_all(table, SCHEMA)
        assert [row["id"] for row in rows] == [*left, *range(1000, 1000 + PER_BATCH)]
        assert errors == [(first, end)]


@pytest.mark.parametrize("kind", KINDS)
def test_verify_and_repair_know_the_same_range(killed: ServerProcess, kind: str) -> None:
    """Before any server opened the log: verify names the range, repair gives it up, and the log goes on after it."""
    KINDS[kind](segments_of(killed.data_dir)[-1])
    told = CliRunner().invoke(cli, ["verify", "--data-dir", str(killed.data_dir), "-o", "json"])
    (damaged,) = json.loads(told.stdout)["damaged"]
    assert damaged["end"] >= ROWS
    done = CliRunner().invoke(cli, damaged["remedy"].split()[1:])
    assert done.exit_code == 0, done.output
    after = CliRunner().invoke(cli, ["verify", "--data-dir", str(killed.data_dir), "-o", "json"])
    assert json.loads(after.stdout)["damaged"] == []
    with killed, WireCluster.of(killed.bootstrap) as cluster:
        table = WireTable.find(cluster, PATH)
        rows, errors = read_all(table, SCHEMA)
        assert [row["id"] for row in rows] == list(range(damaged["first"]))
        assert errors == []
        assert table.append(rows_batch(1000)) == damaged["end"]


def test_an_ordinary_kill_skips_no_offset(killed: ServerProcess) -> None:
    """Nothing is missing, or half an append stands at the end: the log goes on where it was."""
    with segments_of(killed.data_dir)[-1].open("ab") as file:
        file.write(bytes(rows_batch(0))[:100])
    with killed, WireCluster.of(killed.bootstrap) as cluster:
        table = WireTable.find(cluster, PATH)
        rows, errors = read_all(table, SCHEMA)
        assert ([row["id"] for row in rows], errors) == (list(range(ROWS)), [])
        assert table.append(rows_batch(1000)) == ROWS


@pytest.mark.covering
@pytest.mark.parametrize("rows", [2**31 - 1, 2**31])
@pytest.mark.parametrize("clean", [True, False], ids=["closed", "killed"])
def test_a_batch_that_claims_too_many_rows_does_not_stop_appends(killed: ServerProcess, rows: int, clean: bool) -> None:
    """Its checksum is right, so that its offsets are taken; readers that want its rows are told what is wrong."""
    if clean:
        killed.start().stop()
    batch = bytearray(rows_batch(0))
    struct.pack_into("<i", batch, BATCH_V0.offset("last_offset_delta"), rows - 1)
    struct.pack_into("<i", batch, BATCH_V0.offset("record_count"), min(rows, 2**31 - 1))
    seal(batch)
    stamp(batch, 0, ROWS, 0)
    with segments_of(killed.data_dir)[-1].open("ab") as file:
        file.write(batch)
    with killed, lakeward.connect(killed.bootstrap) as conn:
        table = conn.table("db.t")
        for number in range(3):
            assert table.append([{"id": number, "n": 0}]) is not None
        found = table.scan(skip_damaged=True)
        assert found.to_arrow()["id"].to_pylist() == [*range(ROWS), 0, 1, 2]
        assert [(one.start, one.stop) for one in found.left_out] == [(ROWS, ROWS + rows)]
        with pytest.raises(CorruptError, match=f"offsets {ROWS} to"):
            table.scan().to_arrow()
