"""Remote log segments made by hand: files in a directory, and what a server says of them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from arrow_batches import ids_batch

from lakeward.client.remote.segment import Segment
from lakeward.protocol.messages.log import PbRemoteLogFetchInfo, PbRemoteLogSegment


def batches(first: int, count: int, rows: int = 10) -> bytes:
    """Batches of consecutive ids, each row's id its offset."""
    made = (
        bytes(ids_batch(list(range(start, start + rows)), base_offset=start))
        for start in range(first, first + count * rows, rows)
    )
    return b"".join(made)


def put_segment(directory: Path, name: str, start: int, end: int, data: bytes) -> PbRemoteLogSegment:
    """A segment in a directory."""
    (directory / name).mkdir(parents=True)
    (directory / name / f"{start:020d}.log").write_bytes(data)
    return told(name, start, end, len(data))


def told(name: str, start: int, end: int, size: int) -> PbRemoteLogSegment:
    """What a server says of a segment."""
    return PbRemoteLogSegment(
        remote_log_segment_id=name,
        remote_log_start_offset=start,
        remote_log_end_offset=end,
        segment_size_in_bytes=size,
    )


def fetch_info(url: str, segments: Sequence[PbRemoteLogSegment], first_byte: int = 0) -> PbRemoteLogFetchInfo:
    """What a server answers to a fetch below its local start."""
    return PbRemoteLogFetchInfo(
        remote_log_tablet_dir=url, remote_log_segments=tuple(segments), first_start_pos=first_byte
    )


def segment(data: bytes, start: int, end: int, *, first_byte: int = 0, name: str = "u") -> Segment:
    """A segment of these bytes, as the reader knows it."""
    return Segment("s3://bucket/log", f"{name}/{start:020d}.log", start, end, len(data), first_byte)
