"""kill -9 at every step of a copy: the manifest never names what is not there, and no acknowledged row is lost.

REMOTE_CRASH_ROUNDS says how often it is killed; each step has its turn.
"""

from __future__ import annotations

import json
import os
import random
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path

import pyarrow as pa
import pytest
from arrow_batches import read_batch
from eventually import eventually
from remote_server import STEPS
from remote_tables import EAGER, check_files, remote_end
from server_process import ServerProcess
from steady_writer import SteadyWriter
from wire_client import WireCluster
from wire_tables import EARLIEST, LATEST, WireTable, create_database

from lakeward.protocol.messages.shared import PbTablePath
from lakeward.records.batch.log_batch import crc_is_right, walk_batches
from lakeward.remote.formats.log_manifest import LogManifest
from lakeward.runtime.files.local_files import LocalFiles
from lakeward.server.metadata_store.files import MetadataFiles
from lakeward.server.metadata_store.opening import fill, new_database

ROUNDS = int(os.environ.get("REMOTE_CRASH_ROUNDS", "4"))
SEED = int(os.environ.get("CRASH_SEED", str(random.SystemRandom().randrange(10**6))))
IDS = pa.schema([("id", pa.int64())])
PATH = PbTablePath(database_name="crash", table_name="numbers")
_LIFE_S = 20
_DRIVER = str(Path(__file__).parents[1] / "support" / "remote_server.py")


@pytest.mark.crash
@pytest.mark.timeout(120 + 40 * ROUNDS)
def test_a_copy_may_be_interrupted_anywhere(new_server: Callable[..., ServerProcess], tmp_path: Path) -> None:
    """After every death the pointer names a manifest whose files are all there; in the end nothing else is."""
    print(f"CRASH_SEED={SEED}")
    chance = random.Random(SEED)
    steps = list(STEPS) * (1 + ROUNDS // len(STEPS))
    chance.shuffle(steps)
    remote = tmp_path / "remote"
    server = new_server(remote__data__dir=str(remote), **EAGER)
    with WireCluster.of(server.bootstrap) as cluster:
        create_database(cluster, "crash")
        WireTable.create(cluster, "crash", "numbers")
    writer = SteadyWriter(server.bootstrap, PATH, 0)
    writer.start()
    deaths = verified = 0
    for step in steps[:ROUNDS]:
        server.kill()
        server.program = [_DRIVER, step, str(chance.randrange(1, 4))]
        with suppress(AssertionError):  # it may be dead before it says that it is ready
            server.start()
        has_died = eventually(lambda: not server.is_running, within_s=_LIFE_S)
        promised = writer.acknowledged
        server.kill()
        assert has_died, f"the server was not killed {step}"
        deaths += 1
        _check_pointers(server.data_dir, remote)
        server.program = ["-m", "lakeward"]
        server.start()
        with WireCluster.of(server.bootstrap) as cluster:
            table = WireTable.find(cluster, PATH)
            verified = _read_from(verified, table)
            assert verified >= promised
    total = writer.finish()
    with WireCluster.of(server.bootstrap) as cluster:
        table = WireTable.find(cluster, PATH)
        assert table.offset(EARLIEST) == 0
        assert _read_from(0, table) == total
        assert eventually(lambda: remote_end(table) > 0)  # every copy may have died before its end
        assert eventually(lambda: _unnamed(server.data_dir, remote) == []), _unnamed(server.data_dir, remote)
    assert server.stop() == 0
    print(f"deaths: {deaths}, rows: {total}")


def _read_from(offset: int, table: WireTable) -> int:
    """Read to the end as a client would, remote or not; every row must be the number of its offset."""
    while offset < table.offset(LATEST):
        for records in _records(table, offset):
            for span in walk_batches(records):
                assert crc_is_right(records, span)
                if span.header.last_offset < offset:
                    continue
                assert span.header.base_offset == offset
                ids = read_batch(bytes(records[span.start : span.end]), IDS).column(0)
                assert ids.equals(pa.array(range(offset, offset + len(ids)), pa.int64()))
                offset += len(ids)
    return offset


def _records(table: WireTable, offset: int) -> Iterator[bytes]:
    answer = table.fetch(offset)
    assert not answer.error_code, answer
    info = answer.remote_log_fetch_info
    if info is None:
        yield bytes(answer.records or b"")
        return
    for number, segment in enumerate(info.remote_log_segments):
        name = f"{segment.remote_log_start_offset:020d}.log"
        data = Path(info.remote_log_tablet_dir, segment.remote_log_segment_id, name).read_bytes()
        yield data if number else data[info.first_start_pos or 0 :]


def _manifests(data_dir: Path, remote: Path) -> list[tuple[LogManifest, Path]]:
    """What the pointers on disk name."""
    files = MetadataFiles(LocalFiles(), data_dir / "metadata.db")
    with closing(new_database()) as database:  # looked at, not opened: the server may be running
        fill(files, files.find(), database)
        texts = [row[0] for row in database.execute("SELECT text FROM documents WHERE area = 'remote-logs'")]
    paths = [remote / json.loads(text)["remote_log_manifest_path"] for text in texts]
    return [(LogManifest.of_json(path.read_bytes()), path) for path in paths]


def _check_pointers(data_dir: Path, remote: Path) -> None:
    for manifest, path in _manifests(data_dir, remote):
        check_files(manifest, path)


def _unnamed(data_dir: Path, remote: Path) -> list[Path]:
    """Files of remote logs that nothing names."""
    found = _manifests(data_dir, remote)
    named = {path for _, path in found}
    directories = {
        remote / manifest.place.log / segment.segment_id for manifest, _ in found for segment in manifest.segments
    }
    files = [path for path in (remote / "log").rglob("*") if path.is_file()]
    return [path for path in files if path not in named and path.parent not in directories]
