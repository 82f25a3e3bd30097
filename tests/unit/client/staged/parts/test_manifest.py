"""Manifests and parts: what is written is what is read."""

from __future__ import annotations

import pytest

from lakeward.client.staged.parts.manifest import INLINE, SEQUENCES, BucketAppend, Manifest, StagedBatch, WriterChain
from lakeward.client.staged.parts.part import Entry, Part
from lakeward.errors import LakewardError

MANIFEST = Manifest(
    3,
    1,
    "db.t",
    9,
    (0, 2),
    7,
    30,
    ("/stage/a", "s3://b/c"),
    (
        BucketAppend(None, None, 0, 5, 2, 100, (StagedBatch(0, 0, 10, 3), StagedBatch(INLINE, 0, 4, 1))),
        BucketAppend("x$y", 12, 1, 5, SEQUENCES - 1, 0, (StagedBatch(1, 8, 16, 3),)),
    ),
    WriterChain(5, {"0": 2, "4": 11}, 1234),
    b"data",
)


def test_a_manifest_comes_back_as_it_was() -> None:
    """Inline batches included."""
    assert Manifest.of_bytes(b"".join(MANIFEST.to_pieces()), "here") == MANIFEST


def test_the_chain_goes_on_behind_the_batches() -> None:
    """Sequences of other buckets are kept, and those that reach the end begin again."""
    chain = MANIFEST.chain_after
    assert chain is not None
    assert chain.sequences == {"0": 4, "4": 11, "12/1": 0}


def test_a_chain_ends_when_a_bucket_took_another_writer_id() -> None:
    """The next commit takes a fresh one."""
    assert WriterChain(6).after(MANIFEST.buckets) is None


@pytest.mark.parametrize(
    "data", [b"", b"LWM1", b"XXXX\x00\x00\x00\x00", b"LWM1\x02\x00\x00\x00{}", b"LWM1\x01\x00\x00\x00["]
)
def test_a_damaged_manifest_is_named(data: bytes) -> None:
    """The message says which file."""
    with pytest.raises(LakewardError, match="here cannot be read"):
        Manifest.of_bytes(data, "here")


@pytest.mark.parametrize("file", [None, "/stage/a"])
def test_a_part_comes_back_as_it_was(file: str | None) -> None:
    """With its bytes or with the place where they are."""
    part = Part(
        "db.t", 9, (0, 1), (Entry("p", None, 0, 4, 2), Entry(None, 3, 4, 2, 1)), file, b"" if file else b"abcdef"
    )
    assert Part.of_bytes(part.to_bytes()) == part
    assert part.rows == 3


@pytest.mark.parametrize("data", [b"", b"pickle", b"LWP1\xff\x00\x00\x00{}", b"LWP1\x02\x00\x00\x00{}"])
def test_other_bytes_are_no_part(data: bytes) -> None:
    """The message says what to commit."""
    with pytest.raises(LakewardError, match=r"StagedWriter\.finish"):
        Part.of_bytes(data)
