"""LogSettings: the numbers a log obeys."""

from __future__ import annotations

from dataclasses import dataclass

_DAY_MS = 24 * 3600 * 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class LogSettings:
    """Sizes and times of one table's logs; a negative number means never or no limit."""

    segment_bytes_max: int = 1 << 30
    index_interval_bytes: int = 4096
    roll_interval_ms: int = -1
    ttl_ms: int = 7 * _DAY_MS
    retention_bytes: int = -1
    #: Of a log that is copied to remote storage: how long segments stay here too, and how many at least.
    local_ttl_ms: int = -1
    local_segments: int = 2
    delete_delay_ms: int = 60_000
    roll_expired_active_segment: bool = False
    writer_expiration_ms: int = 7 * _DAY_MS
    #: Writers that are remembered at most; whoever wrote within `writer_silence_ms` is not forgotten for another.
    writers_max: int = 10_000
    writer_silence_ms: int = 120_000
    flush_interval_messages: int = (1 << 63) - 1
