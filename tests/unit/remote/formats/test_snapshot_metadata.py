"""SnapshotMetadata: byte for byte what Apache Fluss writes, and back."""

from __future__ import annotations

from pathlib import Path

import pytest

from lakeward.model.bucket import TableBucket
from lakeward.remote.formats.snapshot_metadata import NumberRange, SnapshotFile, SnapshotMetadata

SAMPLE = Path(__file__).parents[3] / "data" / "kv-snapshot" / "_METADATA"


def test_a_real_one_is_read_and_written_alike() -> None:
    """A file of an Apache Fluss 0.9 server."""
    data = SAMPLE.read_bytes()
    found = SnapshotMetadata.of_json(data)
    assert found.bucket == TableBucket(14, None, 0)
    assert [file.name for file in found.files] == ["000008.sst", "CURRENT", "MANIFEST-000004", "OPTIONS-000007"]
    assert (found.log_offset, found.row_count, found.incremental_bytes) == (10, 10, 7684)
    assert found.to_json() == data


def test_everything_that_may_be_missing() -> None:
    """Partition, row count and numbers taken come back when they are there."""
    whole = SnapshotMetadata(
        bucket=TableBucket(1, 2, 3),
        snapshot_id=4,
        location="s3://b/kv/d/t-1/p-p2/3/snap-4",
        shared_files=(SnapshotFile("s3://b/x", 5, "1.sst"),),
        own_files=(),
        incremental_bytes=5,
        log_offset=6,
        row_count=7,
        number_ranges=(NumberRange(8, 9, 10),),
    )
    assert SnapshotMetadata.of_json(whole.to_json()) == whole


@pytest.mark.parametrize("data", [b"", b"[]", b"{}", b'{"version":2}', b'{"version":1,"table_id":"x"}'])
def test_what_is_none_is_refused(data: bytes) -> None:
    """With one kind of error."""
    with pytest.raises(ValueError, match=r".+"):
        SnapshotMetadata.of_json(data)
