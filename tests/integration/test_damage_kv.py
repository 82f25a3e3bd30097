"""Damage under rows by key: the right value, or an error that names the range; never an old value."""

from __future__ import annotations

import json
import re
import shutil
import urllib.request
from pathlib import Path

import pytest
from click.testing import CliRunner
from damage import KINDS, flip, segments_of
from eventually import eventually
from server_process import ServerProcess
from wire_client import WireCluster
from wire_kv import WireKv
from wire_tables import WireTable, create_database

from lakeward.cli.main import cli
from lakeward.errors import ErrorCode
from lakeward.protocol.messages.shared import PbTablePath

PATH = PbTablePath(database_name="db", table_name="k")
KEYS, LIVES = 40, 6
#: The newest value of every key.
STATE = {key: (key, f"life {LIVES - 1}", key * LIVES) for key in range(KEYS)}
_OPTIONS = {"log.segment.file-size": "2kb", "kv.snapshot.interval": "1h"}


@pytest.fixture(scope="module", params=["hash", "rocksdb"])
def written(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data directory with one bucket of state, without any snapshot: all of it comes from the log."""
    if request.param == "rocksdb":
        pytest.importorskip("rocksdict")
    directory = tmp_path_factory.mktemp(request.param) / request.param
    with server_on(directory, request.param) as server:
        with WireCluster.of(server.bootstrap) as cluster:
            create_database(cluster, "db")
            table = WireKv.create(cluster, "db", "k")
            for life in range(LIVES):
                for first in range(0, KEYS, 8):
                    table.upsert(*((key, f"life {life}", key * (life + 1)) for key in range(first, first + 8)))
        server.stop()
    assert len(segments_of(directory)) > 4
    return directory


def server_on(directory: Path, engine: str) -> ServerProcess:
    """A server for a directory, not yet started."""
    server = ServerProcess(directory)
    server.options = _OPTIONS | {"kv.engine": engine}
    return server


@pytest.fixture
def server(written: Path, tmp_path: Path) -> ServerProcess:
    """A server on a copy of those files, not yet started."""
    shutil.copytree(written, tmp_path / "data")
    return server_on(tmp_path / "data", written.name)


@pytest.mark.covering
@pytest.mark.parametrize(
    ("which", "kind"),
    [
        (0, "deleted"),
        (0, "cut"),
        (2, "deleted"),
        (2, "flipped row"),
        (2, "flipped length"),
        (-1, "deleted"),
        (-1, "cut"),
    ],
)
def test_state_is_not_made_from_a_damaged_log(server: ServerProcess, kind: str, which: int) -> None:
    """Lookups and puts are refused with the range; after a repair state is what is left, and offsets go on."""
    KINDS[kind](segments_of(server.data_dir)[which])
    with server:
        with WireCluster.of(server.bootstrap) as cluster:
            table = WireKv(WireTable.find(cluster, PATH))
            end = table.wire.offset(1)
            answer = table.look_up(*range(KEYS))
            assert answer.error_code == ErrorCode.CORRUPT_RECORD.value, answer
            assert "lakeward repair db.k 0" in (answer.error_message or "")
            put = table.put(table.batch([(1, "new", 1)]))
            assert put.error_code == ErrorCode.CORRUPT_RECORD.value, put
        server.stop()
    (damaged,) = json.loads(run("verify", "--data-dir", str(server.data_dir), "-o", "json", code=1))["damaged"]
    run(*damaged["remedy"].split()[1:])
    run("verify", "--data-dir", str(server.data_dir))
    with server, WireCluster.of(server.bootstrap) as cluster:
        table = WireKv(WireTable.find(cluster, PATH))
        rows = table.get(*range(KEYS))
        assert all(row is None or row[1].startswith("life") for row in rows)
        assert sum(row == STATE[key] for key, row in enumerate(rows)) >= KEYS - (damaged["end"] - damaged["first"])
        assert table.upsert((1, "new", 1)) > end


def test_damage_that_a_snapshot_has_overtaken_costs_nothing_but_history(written: Path, tmp_path: Path) -> None:
    """State is the snapshot and what came since; only readers of the changelog are told."""
    shutil.copytree(written, tmp_path / "data")
    server = server_on(tmp_path / "data", written.name)
    server.options["kv.snapshot.interval"] = "100ms"
    with server, WireCluster.of(server.bootstrap) as cluster:
        WireKv(WireTable.find(cluster, PATH)).upsert((0, *STATE[0][1:]))
        while not list(server.data_dir.glob("*/*/kv-0/snapshot-*/manifest.json")):
            pass
        server.stop()
    flip(segments_of(server.data_dir)[1], 300)
    with server, WireCluster.of(server.bootstrap) as cluster:
        table = WireKv(WireTable.find(cluster, PATH))
        assert table.state() == STATE
        table.upsert((3, "new", 3))


def test_a_damaged_snapshot_falls_back_to_the_log(written: Path, tmp_path: Path) -> None:
    """What a snapshot no longer tells, the log does."""
    shutil.copytree(written, tmp_path / "data")
    server = server_on(tmp_path / "data", written.name)
    server.options["kv.snapshot.interval"] = "100ms"
    with server, WireCluster.of(server.bootstrap) as cluster:
        WireKv(WireTable.find(cluster, PATH)).upsert((0, *STATE[0][1:]))
        while not list(server.data_dir.glob("*/*/kv-0/snapshot-*/manifest.json")):
            pass
        server.stop()
    for path in server.data_dir.glob("*/*/kv-0/snapshot-*/*"):
        if path.name != "manifest.json" and path.stat().st_size > 8:
            flip(path, path.stat().st_size // 2)
    found = json.loads(run("verify", "--data-dir", str(server.data_dir), "-o", "json", code=1))["damaged"]
    assert {row["what"] for row in found} == {"snapshot"}
    server.options["kv.snapshot.interval"] = "1h"
    with server, WireCluster.of(server.bootstrap) as cluster:
        assert WireKv(WireTable.find(cluster, PATH)).state() == STATE


def run(*arguments: str, code: int = 0) -> str:
    """Run a command; what it printed."""
    done = CliRunner().invoke(cli, arguments)
    assert done.exit_code == code, done.output
    return done.stdout


def test_the_scrubber_reads_snapshots_too(server: ServerProcess) -> None:
    """One that rots under a running server is told once by the log, and by health and metrics until it is gone."""
    server.options |= {"kv.snapshot.interval": "100ms"}
    with server:
        with WireCluster.of(server.bootstrap) as cluster:
            WireKv(WireTable.find(cluster, PATH)).upsert((1, "later", 1))
        assert eventually(lambda: any(server.data_dir.glob("db/k-*/kv-0/snapshot-*/manifest.json")))
        server.stop()
    for path in server.data_dir.glob("db/k-*/kv-0/snapshot-*/manifest.json"):
        flip(path, 40)
    server.options |= {"kv.snapshot.interval": "1h", "log.scrub.interval": "100ms", "log.scrub.rate": "100mb"}
    with server:
        assert eventually(lambda: "is not as it was written" in server.log_text)
        with urllib.request.urlopen(f"http://{server.bootstrap}/health") as answer:
            assert "snapshot-" in json.load(answer)["damaged_snapshots"][0]
        with urllib.request.urlopen(f"http://{server.bootstrap}/metrics") as answer:
            assert re.search(r"lakeward_damaged_snapshots [1-9]", answer.read().decode())
        server.stop()
    told = [line for line in server.log_text.splitlines() if "is not as it was written" in line]
    assert len(told) == len(set(told))
