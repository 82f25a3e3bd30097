"""Segments in a file store are read from their files, from the right place."""

from __future__ import annotations

from pathlib import Path

import pytest
from arrow_batches import ids_batch

from lakeward.client.remote_fetch import open_segments
from lakeward.errors import ErrorCode, LakewardError, UnsupportedError
from lakeward.protocol.messages.log import PbRemoteLogFetchInfo, PbRemoteLogSegment


def segment(directory: Path, name: str, start: int, data: bytes) -> PbRemoteLogSegment:
    """A segment on disk."""
    (directory / name).mkdir(parents=True)
    (directory / name / f"{start:020d}.log").write_bytes(data)
    return PbRemoteLogSegment(
        remote_log_segment_id=name,
        remote_log_start_offset=start,
        remote_log_end_offset=start + 1,
        segment_size_in_bytes=len(data),
    )


@pytest.mark.parametrize("prefix", ["", "file://", "file:"])
def test_the_first_segment_begins_at_its_position_the_others_at_zero(tmp_path: Path, prefix: str) -> None:
    """`first_start_pos` skips what stands before the asked offset."""
    first, second = bytes(ids_batch([1])), bytes(ids_batch([2]))
    info = PbRemoteLogFetchInfo(
        remote_log_tablet_dir=f"{prefix}{tmp_path}",
        remote_log_segments=(segment(tmp_path, "u1", 0, b"skip" + first), segment(tmp_path, "u2", 1, second)),
        first_start_pos=4,
    )
    assert [bytes(view) for view in open_segments(info)] == [first, second]


def test_a_missing_file_is_told_with_its_path(tmp_path: Path) -> None:
    """The user learns which file was wanted."""
    info = PbRemoteLogFetchInfo(
        remote_log_tablet_dir=str(tmp_path),
        remote_log_segments=(
            PbRemoteLogSegment(
                remote_log_segment_id="u",
                remote_log_start_offset=3,
                remote_log_end_offset=4,
                segment_size_in_bytes=1,
            ),
        ),
    )
    with pytest.raises(LakewardError, match=r"u/00000000000000000003\.log") as caught:
        open_segments(info)
    assert caught.value.code is ErrorCode.LOG_STORAGE


def test_other_stores_are_not_supported() -> None:
    """An object store is named, not guessed at."""
    with pytest.raises(UnsupportedError, match="s3://bucket/log"):
        open_segments(PbRemoteLogFetchInfo(remote_log_tablet_dir="s3://bucket/log"))
