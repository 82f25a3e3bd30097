"""Manifests of remote logs: the JSON of Apache Fluss, clipping, expiry."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakeward.remote.formats.layout import BucketPlace
from lakeward.remote.formats.log_manifest import LogManifest, RemoteSegment

DATA = Path(__file__).parents[3] / "data" / "remote-log"
RECORDED = DATA / "77094574-5e85-4f97-ab2c-acfe102b6e6c.manifest"
EMPTY = LogManifest(BucketPlace("db", "t", 7, 2))


def segment(start: int, end: int, *, time_ms: int = 1000, name: str = "") -> RemoteSegment:
    """A segment of which everything counts."""
    return RemoteSegment.whole(name or f"id-{start}-{end}", start, end, time_ms, 10 * (end - start))


def logical(manifest: LogManifest) -> list[tuple[int, int]]:
    """What counts of each segment."""
    return [(s.logical_start_offset, s.logical_end_offset) for s in manifest.segments]


def test_a_recorded_manifest_is_written_as_it_was_read() -> None:
    """The manifest of a real Apache Fluss keeps every byte."""
    manifest = LogManifest.of_json(RECORDED.read_bytes())
    assert manifest.place == BucketPlace("samples", "log", 13, 0)
    assert (manifest.start_offset, manifest.end_offset, manifest.copied_end_offset) == (0, 18000, 18000)
    assert manifest.to_json() == RECORDED.read_bytes()


def test_an_overlap_clips_the_earlier_segment_as_in_java() -> None:
    """Adding [90, 200) behind [0, 100) gives the first entry a logical end of 90."""
    manifest = EMPTY.with_segments([segment(0, 100)]).with_segments([segment(90, 200)])
    assert b'"start_offset":0,"end_offset":100,"logical_end_offset":90,' in manifest.to_json()
    assert logical(manifest) == [(0, 90), (90, 200)]
    assert manifest.segments[1].start_offset == 90


def test_what_is_covered_already_is_not_taken_again() -> None:
    """A segment that ends at or before the end changes nothing."""
    manifest = EMPTY.with_segments([segment(0, 100)])
    assert manifest.with_segments([segment(50, 100)]) == manifest


def test_a_gap_is_refused() -> None:
    """Segments must follow upon each other."""
    with pytest.raises(ValueError, match="offsets 100 to 101 are missing"):
        EMPTY.with_segments([segment(0, 100), segment(101, 200)])


def test_segments_in_any_order_are_read_by_offset() -> None:
    """As a 0.9.1 server writes them, whose map has no order; where they overlap it does not say what counts."""
    ends = [(800, 1600), (0, 800), (700, 800), (1500, 2400), (1600, 2400)]
    node = json.loads(EMPTY.to_json())
    node["remote_log_segments"] = [
        {"segment_id": f"id-{a}", "start_offset": a, "end_offset": b, "max_timestamp": 1, "size_in_bytes": 9}
        for a, b in ends
    ]
    manifest = LogManifest.of_json(json.dumps(node).encode())
    assert logical(manifest) == [(0, 800), (800, 1500), (1500, 2400)]
    assert manifest.copied_end_offset == 2400
    assert LogManifest.of_json(manifest.to_json()) == manifest


def test_an_emptied_manifest_remembers_how_far_the_log_was_copied() -> None:
    """When everything has expired, `highest_copied_end_offset` is all that is left."""
    manifest = EMPTY.with_segments([segment(0, 500)]).without_first(1)
    text = manifest.to_json()
    assert b'"highest_copied_end_offset":500,"remote_log_segments":[]' in text
    again = LogManifest.of_json(text)
    assert (again.start_offset, again.end_offset, again.copied_end_offset) == (None, -1, 500)


def test_partitions_are_named_in_the_manifest() -> None:
    """The fields stand in the order Apache Fluss writes them in."""
    text = LogManifest(BucketPlace("db", "t", 7, 2, "20241111", 3)).to_json()
    assert text == (
        b'{"version":1,"database":"db","table":"t","partition_name":"20241111","table_id":7,"partition_id":3,'
        b'"bucket_id":2,"remote_log_segments":[]}'
    )
    assert LogManifest.of_json(text).place.partition_id == 3


@pytest.mark.parametrize("text", [b"", b"[]", b"{}", b'{"version":2}', b'{"version":1,"database":"d"}'])
def test_what_is_no_manifest_is_refused(text: bytes) -> None:
    """Damaged or foreign documents raise ValueError."""
    with pytest.raises(ValueError, match=r".+"):
        LogManifest.of_json(text)


def test_only_a_prefix_expires_and_never_what_must_be_kept() -> None:
    """The first segment that is young enough, or needed, ends it."""
    manifest = EMPTY.with_segments([segment(0, 10, time_ms=100), segment(10, 20, time_ms=200), segment(20, 30)])
    assert manifest.expired_count(300, 150, None) == 1
    assert manifest.expired_count(5000, 150, None) == 3
    assert manifest.expired_count(5000, 150, 20) == 2
    assert manifest.expired_count(5000, 150, 19) == 1
    assert manifest.expired_count(5000, 0, None) == 0


def test_segments_are_listed_from_the_one_that_holds_an_offset() -> None:
    """As far as files follow upon each other, and only those that local readers need."""
    manifest = EMPTY.with_segments([segment(0, 10), segment(10, 20), segment(20, 30), segment(30, 40)])
    starts = [s.start_offset for s in manifest.contiguous_from(15, 30, 10)]
    assert starts == [10, 20]
    assert len(manifest.contiguous_from(15, 1000, 2)) == 2
    clipped = EMPTY.with_segments([segment(0, 100), segment(90, 200)])
    assert [s.start_offset for s in clipped.contiguous_from(5, 1000, 10)] == [0]
    assert [s.start_offset for s in clipped.contiguous_from(95, 1000, 10)] == [90]


@given(st.lists(st.tuples(st.integers(0, 60), st.integers(1, 20)), max_size=12))
def test_logical_ranges_never_overlap_and_never_leave_a_gap(ranges: list[tuple[int, int]]) -> None:
    """Whatever is added in whatever order: either it is refused, or every offset counts exactly once."""
    manifest = EMPTY
    for number, (start, size) in enumerate(ranges):
        try:
            manifest = manifest.with_segments([segment(start, start + size, name=str(number))])
        except ValueError:
            continue
        found = logical(manifest)
        assert all(a[1] == b[0] for a, b in pairwise(found))
        for one in manifest.segments:
            one.check()
        assert LogManifest.of_json(manifest.to_json()) == manifest
