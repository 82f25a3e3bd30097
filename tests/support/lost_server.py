"""A server whose disk gets lost, and the one that is rebuilt from what it had copied."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import urllib.request
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import forked
from eventually import eventually
from server_process import ServerProcess
from wire_client import WireCluster

import lakeward
from lakeward.protocol.api import Api
from lakeward.protocol.messages.snapshot import ListKvSnapshotsRequest, ListRemoteLogManifestsRequest

#: What is written is remote a moment later.
EAGER = {
    "remote__log__task_interval_duration": "50ms",
    "remote__log__sync": "100ms",
    "kv__snapshot__interval": "300ms",
}


def _partition_ids(table: lakeward.Table) -> dict[str | None, int | None]:
    if not table.info.descriptor.is_partitioned:
        return {None: None}
    return {partition.name: partition.id for partition in table.partitions()}


class LostServer:
    """A server with remote storage; `options` name it, as keywords of ServerProcess."""

    def __init__(self, directory: Path, options: dict[str, str], tablets: int | None = None, **more: str) -> None:
        self._directory = directory
        self._options = {**EAGER, **options, **more}
        self._tablets = tablets
        self._lives = 0
        self.process = self._next()

    def _next(self) -> ServerProcess:
        self._lives += 1
        return ServerProcess(self._directory / f"data-{self._lives}", tablets=self._tablets, **self._options)

    @property
    def url(self) -> str:
        """Its remote directory."""
        return self.process.options["remote.data.dir"]

    def connect(self) -> lakeward.Connection:
        """A client that says at once what is wrong."""
        return lakeward.connect(self.process.bootstrap, writer_retries=0)

    # -- before the loss

    def wait_until_copied(self, *names: str, state: Sequence[str] = ()) -> None:
        """Wait until the logs of tables, the state of some and the metadata are in remote storage."""
        assert eventually(lambda: all(self._is_copied(name) for name in names)), self.process.log_text[-4000:]
        assert eventually(lambda: all(self._has_snapshots(name) for name in state)), self.process.log_text[-4000:]
        self.wait_until_quiet()

    def wait_until_quiet(self) -> None:
        """Wait until the metadata is in remote storage, and all snapshots that were taken."""
        assert eventually(self._is_quiet), self.process.log_text[-4000:]

    def _is_copied(self, name: str) -> bool:
        with self.connect() as connection, WireCluster.of(self.process.bootstrap) as cluster:
            table = connection.table(name)
            ids = _partition_ids(table)
            for partition, partition_id in ids.items():
                request = ListRemoteLogManifestsRequest(table_id=table.info.table_id, partition_id=partition_id)
                answer = cluster.coordinator.call(Api.LIST_REMOTE_LOG_MANIFESTS, request)
                copied = {one.table_bucket.bucket_id: one.remote_log_end_offset for one in answer.manifests}
                ends = {b.bucket: end for b, end in table.offsets("latest").items() if b.partition == partition}
                if any(copied.get(bucket, 0) < end for bucket, end in ends.items()):
                    return False
        return True

    def _has_snapshots(self, name: str) -> bool:
        return all(self.snapshot_ids(name).values())

    def snapshot_ids(self, name: str) -> dict[tuple[int | None, int], list[int]]:
        """The remote snapshots of each bucket of a table that has rows."""
        found: dict[tuple[int | None, int], list[int]] = {}
        with self.connect() as connection, WireCluster.of(self.process.bootstrap) as cluster:
            table = connection.table(name)
            ids = _partition_ids(table)
            for bucket, end in table.offsets("latest").items():
                request = ListKvSnapshotsRequest(table_id=table.info.table_id, partition_id=ids[bucket.partition])
                answer = cluster.coordinator.call(Api.LIST_KV_SNAPSHOTS, request)
                of_bucket = [one.snapshot_id for one in answer.active_snapshots if one.bucket_id == bucket.bucket]
                if end:
                    found[ids[bucket.partition], bucket.bucket] = of_bucket
        return found

    def metrics(self) -> str:
        """What the server counts."""
        url = f"http://{self.process.host}:{self.process.port}/metrics"
        with urllib.request.urlopen(url) as answer:
            return str(answer.read().decode())

    def metric(self, name: str) -> float:
        """A number that the server counts."""
        lines = self.metrics().splitlines()
        return next(float(line.rsplit(" ", 1)[1]) for line in lines if line.split(" ")[0] == name)

    def _is_quiet(self) -> bool:
        waiting = self.metric("lakeward_remote_snapshots_waiting")
        return not waiting and not self.metric("lakeward_remote_metadata_behind")

    def command_env(self) -> dict[str, str]:
        """The environment of a command that a person gives to the server."""
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        return {**os.environ, "PATH": path, "LAKEWARD_SERVER": self.process.bootstrap}

    # -- after it

    def restore(self, *flags: str, data_dir: Path | None = None) -> subprocess.CompletedProcess[str]:
        """Run `lakeward restore` into the next data directory."""
        return forked.run(self.restore_command(*flags, data_dir=data_dir))

    def restore_command(self, *flags: str, data_dir: Path | None = None) -> list[str]:
        """The command line of `restore`."""
        target = data_dir or self._directory / f"data-{self._lives + 1}"
        settings = [
            part
            for key, value in self.process.options.items()
            if key.startswith("s3.")
            for part in ("-D", f"{key}={value}")
        ]
        command = [sys.executable, "-m", "lakeward", "restore", "--from", self.url, "--data-dir", str(target)]
        return [*command, "-o", "json", *settings, *flags]

    def come_back(self, *flags: str) -> dict[str, Any]:
        """Restore and start the new server; what the restore said."""
        done = self.restore("--take-over", *flags)
        assert done.returncode == 0, done.stderr
        self.process = self._next()
        self.process.start()
        report: dict[str, Any] = json.loads(done.stdout)
        return report
