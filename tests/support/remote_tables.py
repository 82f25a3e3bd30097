"""Tables whose history is in remote storage: servers that copy often, and what is there to be found."""

from __future__ import annotations

from pathlib import Path

from arrow_batches import ids_batch
from eventually import eventually
from wire_tables import EARLIEST, LATEST, WireTable

from lakeward.protocol.api import Api
from lakeward.protocol.messages.snapshot import ListRemoteLogManifestsRequest
from lakeward.remote.formats.layout import INDEX, LOG, TIME_INDEX, WRITERS, segment_file
from lakeward.remote.formats.log_manifest import LogManifest

#: Small segments, copied as soon as they are closed, and gone from here at once.
EAGER = {
    "remote__log__task_interval_duration": "50ms",
    "log__segment__file_size": "10kb",
    "log__index__interval_size": "1kb",
    "log__segment__delete_delay": "0s",
    "log__retention__check_interval": "100ms",
}
ROWS = 100


def append_ids(table: WireTable, batches: int, *, bucket: int = 0, partition: int | None = None) -> int:
    """Append the numbers that follow upon those that are there; returns the new end."""
    end = table.offset(LATEST, bucket=bucket, partition=partition)
    for _ in range(batches):
        table.append(ids_batch(range(end, end + ROWS)), bucket=bucket, partition=partition)
        end += ROWS
    return end


def manifest_urls(table: WireTable, partition: int | None = None) -> dict[int, str]:
    """Where the manifest of each bucket is."""
    request = ListRemoteLogManifestsRequest(table_id=table.table_id, partition_id=partition)
    answer = table.cluster.coordinator.call(Api.LIST_REMOTE_LOG_MANIFESTS, request)
    return {one.table_bucket.bucket_id: one.remote_log_manifest_path for one in answer.manifests}


def manifests(table: WireTable, partition: int | None = None) -> dict[int, Path]:
    """The same in a directory store."""
    return {bucket: Path(url) for bucket, url in manifest_urls(table, partition).items()}


def remote_end(table: WireTable, bucket: int = 0, partition: int | None = None) -> int:
    """Up to where a bucket has been copied."""
    request = ListRemoteLogManifestsRequest(table_id=table.table_id, partition_id=partition)
    answer = table.cluster.coordinator.call(Api.LIST_REMOTE_LOG_MANIFESTS, request)
    ends = {one.table_bucket.bucket_id: one.remote_log_end_offset for one in answer.manifests}
    return ends.get(bucket, 0)


def manifest_of(table: WireTable, bucket: int = 0, partition: int | None = None) -> LogManifest:
    """The manifest of a bucket in a directory store, after every file it names was found."""
    while True:
        path = manifests(table, partition)[bucket]
        try:
            manifest = LogManifest.of_json(path.read_bytes())
            check_files(manifest, path)
        except (AssertionError, FileNotFoundError):
            if manifests(table, partition)[bucket] == path:
                raise
            continue  # another one counts by now, and what this one names may be gone
        return manifest


def check_files(manifest: LogManifest, path: Path) -> None:
    """Everything a manifest names is there, whole."""
    root = Path(str(path).removesuffix(f"/{manifest.place.log}/metadata/{path.name}"))
    for segment in manifest.segments:
        start, end = segment.start_offset, segment.end_offset
        for offset, suffix in ((start, LOG), (start, INDEX), (start, TIME_INDEX), (end, WRITERS)):
            file = root / segment_file(manifest.place.log, segment.segment_id, offset, suffix)
            assert file.exists(), f"{path} names {file}, which is not there"
            if suffix == LOG:
                assert file.stat().st_size == segment.size_bytes


def local_start(server_data: Path, table: WireTable, bucket: int = 0) -> int:
    """Where the log begins on the server's own disk."""
    name = f"{table.path.table_name}-{table.table_id}"
    files = (server_data / table.path.database_name / name / f"log-{bucket}").glob("*.log")
    return min(int(file.stem) for file in files)


def wait_for_history(server_data: Path, table: WireTable, bucket: int = 0) -> int:
    """Wait until all that may be remote is, and only that; returns where the local log begins."""

    def is_done() -> bool:
        name = f"{table.path.table_name}-{table.table_id}"
        files = sorted((server_data / table.path.database_name / name / f"log-{bucket}").glob("*.log"))
        return len(files) <= 2 and remote_end(table, bucket) == int(files[-1].stem)

    assert eventually(is_done), "the history is not remote"
    assert table.offset(EARLIEST, bucket=bucket) == 0
    return local_start(server_data, table, bucket)
