"""What a server copied to remote storage, all of it read: segments batch by batch, indexes, snapshots of states.

Files are brought here one after the other and removed again. What the newest manifest of a log no longer names is on
its way out and is not looked at.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from lakeward.errors import NotFoundError
from lakeward.remote.formats.layout import INDEX, LOG, LOGS, MANIFEST, STATES, TIME_INDEX, segment_file
from lakeward.remote.formats.log_manifest import LogManifest, RemoteSegment
from lakeward.remote.formats.snapshot_metadata import FILE_NAME, SnapshotMetadata, path_in_store
from lakeward.remote.stores.store import RemoteStore
from lakeward.runtime.files.local_files import LocalFiles
from lakeward.server.remote.copies.snapshot_files import read_metadata
from lakeward.storage.kv.store.snapshots import newest_good_snapshot
from lakeward.storage.log.segment.index_check import damaged_indexes
from lakeward.storage.log.segment.segment_walk import Bad, SegmentWalk


@dataclass(frozen=True, slots=True)
class DamagedObject:
    """An object that is not as it was written, or not there."""

    path: str
    what: str
    reason: str
    first: int | None = None
    end: int | None = None


@dataclass(slots=True)
class StoreReport:
    """What was found in a store."""

    logs: int = 0
    segments: int = 0
    snapshots: int = 0
    bytes: int = 0
    damaged: list[DamagedObject] = field(default_factory=list)


async def verify_store(store: RemoteStore, moved: Callable[[int], None]) -> StoreReport:
    """Read all that counts; `moved` is told how many bytes were read."""
    report = StoreReport()
    present = {one.path: one.size async for one in store.list(LOGS)}
    newest: dict[str, LogManifest] = {}
    for path in (one for one in present if one.endswith(MANIFEST)):
        try:
            manifest = LogManifest.of_json(await store.get(path))
        except NotFoundError:
            continue  # replaced meanwhile
        except ValueError as wrong:
            report.damaged.append(DamagedObject(path, "manifest", f"it cannot be read: {wrong}"))
            continue
        known = newest.get(manifest.place.log)
        if known is None or manifest.copied_end_offset > known.copied_end_offset:
            newest[manifest.place.log] = manifest
    with tempfile.TemporaryDirectory(prefix="lakeward-verify-") as scratch:
        for manifest in newest.values():
            report.logs += 1
            for segment in manifest.segments:
                await _verify_segment(store, manifest, segment, Path(scratch), report)
                moved(segment.size_bytes)
        async for one in store.list(STATES):
            if one.path.endswith(f"/{FILE_NAME}"):
                moved(await _verify_snapshot(store, one.path, Path(scratch), report))
    return report


async def _verify_segment(
    store: RemoteStore, manifest: LogManifest, segment: RemoteSegment, scratch: Path, report: StoreReport
) -> None:
    disk, here = LocalFiles(), scratch / f"{segment.start_offset:020d}{LOG}"
    remote = {
        suffix: segment_file(manifest.place.log, segment.segment_id, segment.start_offset, suffix)
        for suffix in (LOG, INDEX, TIME_INDEX)
    }
    try:
        report.bytes += await store.get_file(remote[LOG], here)
    except NotFoundError:
        first, end = segment.logical_start_offset, segment.logical_end_offset
        report.damaged.append(DamagedObject(remote[LOG], "segment", "it is missing", first, end))
        return
    report.segments += 1
    ends: dict[int, int] = {}
    times_ms: set[int] = set()
    for one in SegmentWalk(disk, here, segment.start_offset, segment.end_offset):
        if isinstance(one, Bad):
            report.damaged.append(DamagedObject(remote[LOG], "segment", one.reason, one.first, one.end))
        else:
            ends[one.position] = one.header.last_offset
            times_ms.add(one.header.commit_timestamp_ms)
    for suffix in (INDEX, TIME_INDEX):
        try:
            report.bytes += await store.get_file(remote[suffix], here.with_suffix(suffix))
        except NotFoundError:
            report.damaged.append(DamagedObject(remote[suffix], "index", "it is missing"))
    newest = times_ms | {segment.time_ms_max}
    for path, reason in damaged_indexes(disk, here, segment.start_offset, ends, newest):
        report.damaged.append(DamagedObject(remote[path.suffix], "index", reason))
    for suffix in remote:
        here.with_suffix(suffix).unlink(missing_ok=True)


async def _verify_snapshot(store: RemoteStore, path: str, scratch: Path, report: StoreReport) -> int:
    """Bring one snapshot of a state and judge it by its own checksums; how many bytes it has."""
    directory = scratch / "state"
    target = directory / f"snapshot-{1:010d}"
    target.mkdir(parents=True)
    size = 0
    try:
        metadata: SnapshotMetadata = await read_metadata(store, path)
        kv_directory = path.rpartition("/")[0].rpartition("/")[0]
        for file in metadata.files:
            if "/" in file.name or file.name in {"", ".", ".."}:
                raise ValueError(f"'{file.name}' is no name of a file")
            size += await store.get_file(path_in_store(file.path, kv_directory), target / file.name)
        if newest_good_snapshot(LocalFiles(), directory) is None:
            raise ValueError("a file of it is not as it was written")
        report.snapshots += 1
        report.bytes += size
    except NotFoundError as wrong:
        if await store.head(path) is not None:  # and not removed meanwhile
            report.damaged.append(DamagedObject(path, "snapshot", f"a file of it is missing: {wrong.message}"))
    except ValueError as wrong:
        report.damaged.append(DamagedObject(path, "snapshot", str(wrong)))
    finally:
        shutil.rmtree(directory, ignore_errors=True)
    return size
