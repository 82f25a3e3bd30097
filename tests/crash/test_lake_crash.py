"""A server that dies between the offsets file of a lake snapshot and the row that names it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

_SCRIPT = '''
import contextlib, os, signal, sys
from pathlib import Path
from lakeward.runtime.files.local_files import LocalFiles
from lakeward.model.bucket import TableBucket
from lakeward.model.table import TablePath
from lakeward.options.server_options import ServerOptions
from lakeward.protocol.api import Api
from lakeward.protocol.messages import lake, table
from lakeward.protocol.messages.shared import PbTablePath
from lakeward.runtime.clock import SystemClock
from lakeward.runtime.entropy import SystemEntropy
from lakeward.server.whereabouts.cluster_map import Door
from lakeward.server.coordinator.handlers.caller import Caller
from lakeward.server.coordinator.tables.cluster_config import ClusterConfig
from lakeward.server.coordinator.coordinator import Coordinator
from lakeward.server.books.offsets_files import OffsetsFiles
from lakeward.server.coordinator.handlers.service import handlers
from lakeward.server.metadata_store.sqlite_store import FILE_NAME, SqliteMetadataStore

data_dir, step, snapshot_id = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
store = SqliteMetadataStore(LocalFiles(), SystemEntropy(), data_dir / FILE_NAME)
options = ServerOptions.of({"data.dir": str(data_dir), "datalake.format": "iceberg"})
served = handlers(Coordinator(store, ClusterConfig(store, options), SystemClock(), SystemEntropy(), LocalFiles()))
path = PbTablePath(database_name="fluss", table_name="t")
descriptor = b"""{"version":1,"schema":{"version":1,"columns":[{"name":"id","data_type":{"type":"BIGINT"},"id":0}]},
"partition_key":[],"bucket_key":[],"bucket_count":1,"properties":{"table.datalake.enabled":"true"},
"custom_properties":{}}"""

def ask(api, request):
    return served[api](request, Caller(0, Door("FLUSS", "here", 1)))

def die(*_):
    os.kill(os.getpid(), signal.SIGKILL)

@contextlib.contextmanager
def dying_change(self):
    with original(self) as change:
        yield change
        die()

original = SqliteMetadataStore.change
ask(Api.CREATE_TABLE, table.CreateTableRequest(table_path=path, table_json=descriptor, ignore_if_exists=True))
if step == "before row":
    SqliteMetadataStore.change = dying_change
elif step == "before old files go":
    OffsetsFiles.delete = die
if step != "look":
    offset = lake.PbLakeTableOffsetForBucket(bucket_id=0, log_end_offset=10 * snapshot_id)
    info = lake.PbLakeTableSnapshotInfo(table_id=0, snapshot_id=snapshot_id, buckets_req=(offset,))
    ask(Api.COMMIT_LAKE_TABLE_SNAPSHOT, lake.CommitLakeTableSnapshotRequest(tables_req=(info,)))
found = ask(Api.GET_LAKE_SNAPSHOT, lake.GetLakeSnapshotRequest(table_path=path))
print(found.snapshot_id, found.bucket_snapshots[0].log_offset)
'''


def coordinator(data_dir: Path, step: str, snapshot_id: int = 0) -> tuple[int, str]:
    """A life of a coordinator that commits a snapshot: its exit code, and the snapshot it has at the end."""
    command = [sys.executable, "-c", _SCRIPT, str(data_dir), step, str(snapshot_id)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode in {0, -9}, done.stderr
    return done.returncode, done.stdout.strip()


@pytest.mark.crash
def test_a_kill_between_file_and_row(tmp_path: Path) -> None:
    """Before the row it is the old snapshot, after it the new one; each with its offsets, never a half of both."""
    files = tmp_path / "remote" / "lake" / "fluss" / "t-0" / "metadata"
    assert coordinator(tmp_path, "", 1) == (0, "1 10")
    assert coordinator(tmp_path, "before row", 2) == (-9, "")
    assert coordinator(tmp_path, "look") == (0, "1 10")
    assert len(list(files.glob("*.offsets"))) == 2, "the file of before the kill is there, and nobody's"
    assert coordinator(tmp_path, "before old files go", 3) == (-9, "")
    assert coordinator(tmp_path, "look") == (0, "3 30")
    assert coordinator(tmp_path, "", 4) == (0, "4 40")
    assert not list(files.glob("*.tmp"))
