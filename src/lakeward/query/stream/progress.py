"""Progress: how far behind its table a stream is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lakeward.client.forms.results import BucketId


@dataclass(frozen=True, slots=True)
class BucketProgress:
    """One bucket: the next offset to read, where its log ends, and when the next row was written (None: not asked)."""

    bucket: BucketId
    next_offset: int
    end_offset: int
    is_state: bool = False
    oldest_ms: int | None = None

    @property
    def rows_behind(self) -> int:
        """Changes that were not read yet; the rows of a state that was not read count too."""
        return self.end_offset if self.is_state else max(self.end_offset - self.next_offset, 0)


@dataclass(frozen=True, slots=True)
class Progress:
    """All buckets of a stream."""

    buckets: Sequence[BucketProgress]

    @property
    def rows_behind(self) -> int:
        """Changes that were not read yet, in all buckets."""
        return sum(b.rows_behind for b in self.buckets)

    @property
    def oldest_ms(self) -> int | None:
        """When the oldest of them was written, among the buckets that are furthest behind."""
        return min((b.oldest_ms for b in self.buckets if b.oldest_ms is not None), default=None)

    def lag_ms(self, now_ms: int) -> int:
        """How long the oldest row that was not read has waited."""
        return 0 if self.oldest_ms is None else max(now_ms - self.oldest_ms, 0)

    def metrics(self, now_ms: int) -> Mapping[str, str]:
        """What an engine shows of a source: texts by name."""
        worst = max(self.buckets, key=lambda b: b.rows_behind, default=None)
        found = {
            "rowsBehind": str(self.rows_behind),
            "bucketsBehind": str(sum(1 for b in self.buckets if b.rows_behind)),
            "lagMs": str(self.lag_ms(now_ms)),
        }
        if worst is not None and worst.rows_behind:
            found["furthestBehind"] = f"{worst.bucket}: {worst.rows_behind}"
        return found

    def to_json(self) -> dict[str, Any]:
        """The JSON form."""
        return {
            "rows_behind": self.rows_behind,
            "oldest_ms": self.oldest_ms,
            "buckets": {str(b.bucket): b.rows_behind for b in self.buckets},
        }
