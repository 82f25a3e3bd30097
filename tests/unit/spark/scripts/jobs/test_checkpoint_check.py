"""Checkpoints that are whole, and those that are not."""

from __future__ import annotations

from pathlib import Path

import pytest
from fake_query import leave_batch

from lakeward.errors import LakewardError
from lakeward.spark.scripts.jobs.checkpoint_check import check_checkpoint, is_unused


def test_an_empty_checkpoint_is_whole_and_unused(tmp_path: Path) -> None:
    """So is one that is not there, and one that has begun is used."""
    assert is_unused(str(tmp_path))
    check_checkpoint("copy", str(tmp_path))
    check_checkpoint("copy", str(tmp_path / "absent"))
    leave_batch(str(tmp_path))
    assert not is_unused(f"file://{tmp_path}")
    check_checkpoint("copy", str(tmp_path))


def test_a_batch_that_was_planned_and_not_committed_is_whole(tmp_path: Path) -> None:
    """It is what a killed process leaves."""
    leave_batch(str(tmp_path), 0)
    leave_batch(str(tmp_path), 1)
    (tmp_path / "commits" / "1").unlink()
    check_checkpoint("copy", str(tmp_path))


@pytest.mark.parametrize(
    ("file", "content"),
    [
        ("offsets/1", ""),
        ("offsets/1", "v1\n"),
        ("offsets/1", 'v1\n{"batchWatermarkMs":0}\n{"0":'),
        ("commits/1", ""),
        ("metadata", '{"i'),
        ("metadata", None),
        ("offsets/1", None),
    ],
)
def test_a_damaged_file_is_named(tmp_path: Path, file: str, content: str | None) -> None:
    """Half written, empty or gone."""
    for batch in (0, 1):
        leave_batch(str(tmp_path), batch)
    if content is None:
        (tmp_path / file).unlink()
    else:
        (tmp_path / file).write_text(content)
    with pytest.raises(LakewardError, match=rf"job 'copy' is damaged: {tmp_path / file} .*`lakeward jobs drop copy`"):
        check_checkpoint("copy", str(tmp_path))


def test_a_checkpoint_in_a_bucket_is_left_to_spark(tmp_path: Path) -> None:
    """It counts as used: nobody has looked."""
    check_checkpoint("copy", "s3a://bucket/copy")
    assert not is_unused("s3a://bucket/copy")
