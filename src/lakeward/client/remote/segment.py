"""Segment: what a server says of a log segment in a file store."""

from __future__ import annotations

from dataclasses import dataclass

from lakeward.errors import ErrorCode, LakewardError
from lakeward.protocol.messages.log import PbRemoteLogFetchInfo
from lakeward.remote.formats.layout import COLUMNS, LOG


@dataclass(frozen=True, slots=True)
class Segment:
    """A log segment in a file store: the offsets [start, end), and from which byte on it is wanted.

    `first_offset` is the offset at that byte, where somebody knows it.
    """

    directory: str
    name: str
    start_offset: int
    end_offset: int
    size_bytes: int
    first_byte: int = 0
    first_offset: int | None = None

    @property
    def url(self) -> str:
        """Where it is, for people."""
        return f"{self.directory}/{self.name}"

    @property
    def columns_name(self) -> str:
        """The file with the sums of its columns, if there is one."""
        return f"{self.name.removesuffix(LOG)}{COLUMNS}"

    def damage_error(self, what: str) -> LakewardError:
        """The error of a segment whose bytes are not what they should be."""
        return ErrorCode.CORRUPT_RECORD.error(
            f"The remote log segment {self.url} is damaged: {what}. The log goes on at offset {self.end_offset}."
        )


def segments_of(info: PbRemoteLogFetchInfo, end_offset: int | None = None) -> list[Segment]:
    """The segments an answer points to that begin before an offset; the first from where the asked offset is."""
    return [
        Segment(
            directory=info.remote_log_tablet_dir.rstrip("/"),
            name=f"{segment.remote_log_segment_id}/{segment.remote_log_start_offset:020d}{LOG}",
            start_offset=segment.remote_log_start_offset,
            end_offset=segment.remote_log_end_offset,
            size_bytes=segment.segment_size_in_bytes,
            first_byte=(info.first_start_pos or 0) if position == 0 else 0,
        )
        for position, segment in enumerate(info.remote_log_segments)
        if end_offset is None or segment.remote_log_start_offset < end_offset
    ]
