"""The Java client of Apache Fluss reads our snapshots with the RocksDB it brings along."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from lost_server import LostServer

_PROGRAM = Path(__file__).parents[1] / "data" / "SnapshotReader.java"
_MAVEN = Path(os.environ.get("MAVEN_REPO", Path.home() / ".m2" / "repository"))
_JARS = [
    *_MAVEN.glob("org/apache/fluss/fluss-client/1.*/fluss-client-1.*.jar"),
    *_MAVEN.glob("org/slf4j/slf4j-api/1.*/*.jar"),
]
_IS_THERE = shutil.which("java") is not None and any("fluss-client" in jar.name for jar in _JARS)


@pytest.mark.skipif(not _IS_THERE, reason="needs Java, and fluss-client in the Maven repository")
@pytest.mark.parametrize("options", [{"kv__engine": "rocksdb"}, {"kv__snapshot__remote_format": "rocksdb"}])
def test_the_java_client_reads_snapshots(tmp_path: Path, options: dict[str, str]) -> None:
    """Every row that is there, none that was deleted, whichever engine wrote it."""
    server = LostServer(tmp_path, {"remote__data__dir": f"file://{tmp_path}/remote"}, **options)
    with server.process:
        with server.connect() as connection:
            table = connection.create_table("fluss.state", "id INT, name STRING", primary_key=["id"], buckets=2)
            table.upsert([{"id": i, "name": f"row {i}"} for i in range(10_000)])
            table.delete([{"id": i} for i in range(10)])
            server.wait_until_copied("fluss.state", state=["fluss.state"])
        classpath = os.pathsep.join(map(str, _JARS))
        command = ["java", "--add-opens=java.base/java.nio=ALL-UNNAMED", "-cp", classpath, str(_PROGRAM)]
        done = subprocess.run([*command, server.process.bootstrap, "fluss", "state"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-4000:]
    assert done.stdout.split() == ["9990", str(sum(range(10, 10_000)))]
