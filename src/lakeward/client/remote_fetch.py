"""Log segments that moved to a file store, read where they are."""

from __future__ import annotations

import mmap
from pathlib import Path
from urllib.parse import unquote, urlsplit

from lakeward.errors import ErrorCode
from lakeward.protocol.messages.log import PbRemoteLogFetchInfo


def open_segments(info: PbRemoteLogFetchInfo) -> list[memoryview]:
    """The records of each segment, mapped into memory; the first from where the asked offset is."""
    directory = _local(info.remote_log_tablet_dir)
    found = []
    for position, segment in enumerate(info.remote_log_segments):
        name = f"{segment.remote_log_start_offset:020d}.log"
        skipped = (info.first_start_pos or 0) if position == 0 else 0
        found.append(_mapped(directory / segment.remote_log_segment_id / name)[skipped:])
    return found


def _local(url: str) -> Path:
    parts = urlsplit(url)
    if parts.scheme in {"", "file"}:
        return Path(unquote(parts.path) if parts.scheme else url)
    raise ErrorCode.UNSUPPORTED_VERSION.error(
        f"Part of this log lives in {url}; this client reads remote segments from local files only."
    )


def _mapped(path: Path) -> memoryview:
    try:
        with path.open("rb") as file:
            return memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
    except OSError as wrong:
        raise ErrorCode.LOG_STORAGE.error(
            f"The remote log segment {path} cannot be read: {wrong}. Is the file store mounted on this machine?"
        ) from wrong
