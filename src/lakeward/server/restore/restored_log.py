"""Where a bucket's log goes on: behind what is remote, with what its writers had done."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from lakeward.errors import LakewardError, NotFoundError
from lakeward.records.log_batch import walk_batches
from lakeward.remote.layout import INDEX, LOG, MANIFEST, TIME_INDEX, WRITERS, BucketPlace, segment_file
from lakeward.remote.log_manifest import LogManifest, RemoteSegment
from lakeward.remote.store import RemoteStore


async def true_manifest(store: RemoteStore, place: BucketPlace, path: str) -> tuple[LogManifest, str | None]:
    """A bucket's manifest, of which every segment is there; and what had to be left out."""
    manifest, trouble = await _newest_manifest(store, place, path)
    present = {one.path async for one in store.list(place.log)}
    kept = list(manifest.segments)
    while kept and _log_file(place, kept[0]) not in present:
        del kept[0]  # expired after the metadata was last copied
    whole = [place_ for place_, one in enumerate(kept) if _log_file(place, one) not in present]
    if whole:
        lost_from = kept[whole[0]].logical_start_offset
        trouble = f"segment {_log_file(place, kept[whole[0]])} is missing, so the log ends at offset {lost_from}"
        kept = kept[: whole[0]]
        return replace(manifest, segments=tuple(kept), copied_end_offset=lost_from), trouble
    return replace(manifest, segments=tuple(kept)), trouble


async def _newest_manifest(store: RemoteStore, place: BucketPlace, path: str) -> tuple[LogManifest, str | None]:
    """The manifest that the metadata names; if it cannot be read, the one that reaches farthest."""
    try:
        return LogManifest.of_json(await store.get(path)), None
    except (NotFoundError, ValueError) as wrong:
        trouble = f"the manifest {path} cannot be read ({wrong})"
    best: LogManifest | None = None
    async for found in store.list(f"{place.log}/metadata"):
        if found.path.endswith(MANIFEST):
            try:
                other = LogManifest.of_json(await store.get(found.path))
            except (NotFoundError, ValueError):
                continue
            if best is None or other.copied_end_offset > best.copied_end_offset:
                best = other
    if best is None:
        return LogManifest(place), f"{trouble}, and there is no other: its log is lost"
    return best, f"{trouble}; another one was taken that reaches offset {best.copied_end_offset}"


async def begin_log(store: RemoteStore, manifest: LogManifest, directory: Path) -> None:
    """An empty log that goes on where the remote one ends."""
    end = manifest.copied_end_offset
    if end <= 0:
        return
    _make(directory)
    if manifest.segments and manifest.end_offset == end:
        last = manifest.segments[-1]
        writers = segment_file(manifest.place.log, last.segment_id, last.end_offset, WRITERS)
        if last.end_offset == end:
            try:
                content = await store.get(writers)
                json.loads(content)
                (directory / f"{end:020d}{WRITERS}").write_bytes(content)
            except (NotFoundError, ValueError):
                pass  # a segment need not have any; its writers then begin anew
    (directory / f"{end:020d}{LOG}").touch()


async def fetch_log(store: RemoteStore, manifest: LogManifest, from_offset: int, directory: Path) -> int:
    """Bring the segments that have an offset and all behind it; their bytes."""
    end = manifest.copied_end_offset
    if not manifest.segments or from_offset >= end:
        return 0
    _make(directory)
    size = 0
    for segment in manifest.segments[max(manifest.place_of(from_offset), 0) :]:
        size += await _fetch_segment(store, manifest.place, segment, directory)
    return size


async def _fetch_segment(store: RemoteStore, place: BucketPlace, segment: RemoteSegment, directory: Path) -> int:
    start = segment.logical_start_offset
    target = directory / f"{start:020d}{LOG}"
    size = await store.get_file(_log_file(place, segment), target)
    is_whole = (start, segment.logical_end_offset) == (segment.start_offset, segment.end_offset)
    if not is_whole:
        _clip(target, segment)
        return size
    for suffix in (INDEX, TIME_INDEX):
        try:
            path = segment_file(place.log, segment.segment_id, segment.start_offset, suffix)
            await store.get_file(path, directory / f"{start:020d}{suffix}")
        except LakewardError:
            continue  # it is made again
    return size


def _clip(path: Path, segment: RemoteSegment) -> None:
    """Leave only the batches that count."""
    data = path.read_bytes()
    kept = [
        data[span.start : span.end]
        for span in walk_batches(memoryview(data))
        if segment.logical_start_offset <= span.header.base_offset
        and span.header.last_offset < segment.logical_end_offset
    ]
    path.write_bytes(b"".join(kept))


def _make(directory: Path) -> None:
    directory.mkdir(parents=True, exist_ok=True)


def _log_file(place: BucketPlace, segment: RemoteSegment) -> str:
    return segment_file(place.log, segment.segment_id, segment.start_offset, LOG)
