"""Where a bucket's log goes on: behind what is remote, with what its writers had done."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from lakeward.errors import LakewardError, NotFoundError
from lakeward.records.batch.log_batch import walk_batches
from lakeward.remote.formats.layout import INDEX, LOG, MANIFEST, TIME_INDEX, WRITERS, BucketPlace, segment_file
from lakeward.remote.formats.log_manifest import LogManifest, RemoteSegment
from lakeward.remote.stores.store import RemoteStore
from lakeward.runtime.files.local_files import LocalFiles
from lakeward.storage.log.log_facts import GivenUp, LogFacts


async def true_manifest(store: RemoteStore, place: BucketPlace, path: str) -> tuple[LogManifest, str | None]:
    """The manifest that reaches farthest of those whose segments are all there; and what had to be left out.

    As a rule it is the one that the metadata names. A later one was written after the metadata was last copied.
    """
    present = {one.path async for one in store.list(place.log)}
    found: list[LogManifest] = []
    trouble = None
    for candidate in sorted({path, *(one for one in present if one.endswith(MANIFEST))}, key=lambda one: one != path):
        try:
            found.append(LogManifest.of_json(await store.get(candidate)))
        except (NotFoundError, ValueError) as wrong:
            if candidate == path:
                trouble = f"the manifest {path} cannot be read ({wrong})"
    whole = [_whole(manifest, present) for manifest in found]
    if not whole:
        return LogManifest(place), f"{trouble}, and there is no other: its log is lost"
    best = max(whole, key=lambda manifest: manifest.copied_end_offset)
    reached = max(manifest.copied_end_offset for manifest in found)
    if best.copied_end_offset < reached:
        trouble = f"segments are missing, so the log ends at offset {best.copied_end_offset} and not at {reached}"
    elif trouble is not None:
        trouble += f"; another one was taken that reaches offset {best.copied_end_offset}"
    return best, trouble


def _whole(manifest: LogManifest, present: set[str]) -> LogManifest:
    """As much of a manifest as is there, without a gap."""
    kept = list(manifest.segments)
    while kept and _log_file(manifest.place, kept[0]) not in present:
        del kept[0]  # expired after the metadata was last copied
    for number, segment in enumerate(kept):
        if _log_file(manifest.place, segment) not in present:
            return replace(manifest, segments=tuple(kept[:number]), copied_end_offset=segment.logical_start_offset)
    return replace(manifest, segments=tuple(kept))


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
                pass  # a segment need not have any; its writers then begin again
    (directory / f"{end:020d}{LOG}").touch()


def give_up(directory: Path, end_offset: int, reason: str, now_ms: int) -> None:
    """Note that nothing before an offset comes back: the state begins anew there, and takes rows again."""
    _make(directory)
    given = GivenUp(0, end_offset, reason, now_ms)
    LogFacts(end_offset, end_offset, (given,)).write(LocalFiles(), directory)


async def fetch_log(store: RemoteStore, manifest: LogManifest, from_offset: int, directory: Path) -> int:
    """Bring the segments that have an offset and all after it; their bytes."""
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
