"""Where things are in remote storage."""

from __future__ import annotations

from lakeward.remote.formats.layout import LOG, WRITERS, BucketPlace, manifest_file, segment_file


def test_a_bucket_of_a_table_has_the_recorded_path() -> None:
    """A segment of Apache Fluss's own tree is found where it was recorded."""
    log = BucketPlace("samples", "log", 13, 0).log
    segment = "1af8b9f0-4fb0-48c1-834d-799f5aad28d1"
    assert segment_file(log, segment, 0, LOG) == f"log/samples/log-13/0/{segment}/00000000000000000000.log"
    assert segment_file(log, segment, 9000, WRITERS) == (
        f"log/samples/log-13/0/{segment}/00000000000000009000.writer_snapshot"
    )
    manifest = "77094574-5e85-4f97-ab2c-acfe102b6e6c"
    assert manifest_file(log, manifest) == f"log/samples/log-13/0/metadata/{manifest}.manifest"


def test_a_partition_is_between_table_and_bucket() -> None:
    """The partition's name and id are one directory, for logs and for snapshots."""
    place = BucketPlace("db", "t", 7, 2, "20241111", 3)
    assert place.log == "log/db/t-7/20241111-p3/2"
    assert place.kv == "kv/db/t-7/20241111-p3/2"
