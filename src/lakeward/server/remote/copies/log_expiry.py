"""Which remote segments may go. Pure: values in, a count out."""

from __future__ import annotations

from lakeward.remote.formats.log_manifest import LogManifest
from lakeward.storage.log.settings import LogSettings


def expired_segments(
    manifest: LogManifest, settings: LogSettings, now_ms: int, local_bytes: int, keep_from_offset: int | None
) -> int:
    """How many of the oldest segments are too old, or too much.

    `local_bytes` is the size of what is only here. What lies behind `keep_from_offset` stays in any case.
    """
    count = manifest.expired_count(now_ms, settings.ttl_ms, keep_from_offset)
    if settings.retention_bytes < 0:
        return count
    total = manifest.without_first(count).size_bytes + local_bytes
    for segment in manifest.segments[count:]:
        needed = keep_from_offset is not None and segment.logical_end_offset > keep_from_offset
        if needed or total - segment.size_bytes < settings.retention_bytes:
            break
        total -= segment.size_bytes
        count += 1
    return count
