"""Logs that are restored: which manifest counts, what is left out, where the log goes on."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from arrow_batches import ids_batch
from failing_store import FailingStore

from lakeward.records.batch.log_batch import stamp, walk_batches
from lakeward.remote.formats.layout import BucketPlace, manifest_file, segment_file
from lakeward.remote.formats.log_manifest import LogManifest, RemoteSegment
from lakeward.server.restore.restored_log import begin_log, fetch_log, true_manifest

PLACE = BucketPlace("db", "t", 1, 0)
NAMED = manifest_file(PLACE.log, "named")
STEP = 10


@pytest.fixture
def store(tmp_path: Path) -> FailingStore:
    """Remote storage."""
    return FailingStore(tmp_path / "remote")


def batch(first: int, count: int = STEP) -> bytes:
    """A batch as it lies in a log."""
    data = memoryview(bytearray(ids_batch(range(first, first + count))))
    stamp(data, 0, first, 1000 + first)
    return bytes(data)


async def copied(store: FailingStore, *starts: int) -> LogManifest:
    """Segments of ten rows, each a batch, all in the store."""
    segments = []
    for start in starts:
        name = f"segment-{start}"
        content = batch(start)
        await store.put(segment_file(PLACE.log, name, start, ".log"), content)
        await store.put(segment_file(PLACE.log, name, start + STEP, ".writer_snapshot"), b'{"writer_id_entries":[]}')
        segments.append(RemoteSegment.whole(name, start, start + STEP, 1000 + start, len(content)))
    return LogManifest(PLACE).with_segments(segments)


async def put(store: FailingStore, path: str, manifest: LogManifest) -> None:
    """Write a manifest."""
    await store.put(path, manifest.to_json())


async def test_the_named_manifest_counts(store: FailingStore) -> None:
    """When all it names is there, nothing is said."""
    manifest = await copied(store, 0, 10, 20)
    await put(store, NAMED, manifest)
    assert await true_manifest(store, PLACE, NAMED) == (manifest, None)


async def test_a_later_manifest_counts_more(store: FailingStore) -> None:
    """It was written after the metadata was last copied; what it has more is not lost."""
    await put(store, NAMED, await copied(store, 0, 10))
    later = await copied(store, 0, 10, 20)
    await put(store, manifest_file(PLACE.log, "later"), later)
    assert await true_manifest(store, PLACE, NAMED) == (later, None)


async def test_a_manifest_that_is_gone_is_replaced_by_another(store: FailingStore) -> None:
    """And that is told."""
    manifest = await copied(store, 0, 10)
    await put(store, manifest_file(PLACE.log, "other"), manifest)
    found, trouble = await true_manifest(store, PLACE, NAMED)
    assert found == manifest
    assert trouble is not None
    assert "another one was taken that reaches offset 20" in trouble


async def test_without_any_manifest_the_log_is_lost(store: FailingStore) -> None:
    """Which is told as well."""
    found, trouble = await true_manifest(store, PLACE, NAMED)
    assert (found.segments, found.copied_end_offset) == ((), -1)
    assert trouble is not None
    assert "lost" in trouble


async def test_segments_that_expired_meanwhile_are_left_out(store: FailingStore) -> None:
    """The oldest may be gone; nothing is wrong then."""
    manifest = await copied(store, 0, 10, 20)
    await put(store, NAMED, manifest)
    await store.delete([segment_file(PLACE.log, "segment-0", 0, ".log")])
    found, trouble = await true_manifest(store, PLACE, NAMED)
    assert (found.start_offset, found.end_offset, trouble) == (10, 30, None)


async def test_the_log_ends_at_a_gap(store: FailingStore) -> None:
    """What lies after it cannot be read on to."""
    manifest = await copied(store, 0, 10, 20)
    await put(store, NAMED, manifest)
    await store.delete([segment_file(PLACE.log, "segment-10", 10, ".log")])
    found, trouble = await true_manifest(store, PLACE, NAMED)
    assert (found.start_offset, found.end_offset, found.copied_end_offset) == (0, 10, 10)
    assert trouble is not None
    assert "ends at offset 10 and not at 30" in trouble


async def test_a_log_begins_behind_what_is_remote(store: FailingStore, tmp_path: Path) -> None:
    """Empty, with what its writers had done."""
    await begin_log(store, await copied(store, 0, 10), tmp_path / "log-0")
    assert sorted(path.name for path in (tmp_path / "log-0").iterdir()) == [
        f"{20:020d}.log",
        f"{20:020d}.writer_snapshot",
    ]
    await begin_log(store, LogManifest(PLACE), tmp_path / "log-1")
    assert not (tmp_path / "log-1").exists()


async def test_only_what_is_needed_is_fetched(store: FailingStore, tmp_path: Path) -> None:
    """From the segment that has the offset on."""
    manifest = await copied(store, 0, 10, 20)
    size = await fetch_log(store, manifest, 15, tmp_path / "log-0")
    names = sorted(path.name for path in (tmp_path / "log-0").glob("*.log"))
    assert names == [f"{10:020d}.log", f"{20:020d}.log"]
    assert size == sum(path.stat().st_size for path in (tmp_path / "log-0").glob("*.log"))
    assert await fetch_log(store, manifest, 30, tmp_path / "log-1") == 0


async def test_of_a_clipped_segment_only_what_counts_is_kept(store: FailingStore, tmp_path: Path) -> None:
    """Whole batches of it, under the offset they begin with."""
    content = batch(0) + batch(10) + batch(20)
    await store.put(segment_file(PLACE.log, "s", 0, ".log"), content)
    segment = replace(
        RemoteSegment.whole("s", 0, 30, 1000, len(content)), logical_start_offset=10, logical_end_offset=20
    )
    await fetch_log(store, LogManifest(PLACE, (segment,), 20), 10, tmp_path / "log-0")
    (file,) = (tmp_path / "log-0").iterdir()
    assert file.name == f"{10:020d}.log"
    assert [span.header.base_offset for span in walk_batches(memoryview(file.read_bytes()))] == [10]
