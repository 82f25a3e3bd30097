"""The history of a table as its only writer knows it, and whether an answer is a prefix of it, bucket by bucket."""

from __future__ import annotations

import bisect
import itertools
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

_SHOWN = 8


@dataclass(frozen=True, slots=True)
class Change:
    """A row that was written, or a key that was deleted; `seq` is its own."""

    id: int
    seq: int
    is_delete: bool = False


@dataclass(slots=True)
class _Bucket:
    changes: list[Change] = field(default_factory=list)
    acknowledged: int = 0
    #: When so many changes had been sent, and acknowledged: (ms, count), in order.
    sent_at: list[tuple[int, int]] = field(default_factory=list)
    done_at: list[tuple[int, int]] = field(default_factory=list)


#: How many changes of each bucket an answer must and may have.
Span = Mapping[int, tuple[int, int]]


class History:
    """All changes in the order they were made. One writes, many ask."""

    def __init__(self, *, keyed: bool, bucket_of: Mapping[int, int]) -> None:
        self.keyed = keyed
        self._bucket_of = bucket_of
        self._buckets = {number: _Bucket() for number in set(bucket_of.values())}
        self._lock = threading.Lock()
        self.next_seq = 0

    def write(
        self,
        changes: Sequence[Change],
        now_ms: Callable[[], int],
        send: Callable[[], object],
        sent_ms: int | None = None,
    ) -> None:
        """Send changes: before they may, after they must be seen. `sent_ms` is when they were sent already."""
        with self._lock:
            for change in changes:
                self._of(change).changes.append(change)
            for bucket in self._buckets.values():
                bucket.sent_at.append((now_ms() if sent_ms is None else sent_ms, len(bucket.changes)))
        send()
        with self._lock:
            for bucket in self._buckets.values():
                bucket.acknowledged = len(bucket.changes)
                bucket.done_at.append((now_ms(), bucket.acknowledged))

    def made(self, ids: Iterable[int], *, is_delete: bool = False) -> list[Change]:
        """New changes of some keys."""
        found = [Change(id_, self.next_seq + n, is_delete) for n, id_ in enumerate(ids)]
        self.next_seq += len(found)
        return found

    def _of(self, change: Change) -> _Bucket:
        return self._buckets[self._bucket_of[change.id]]

    # -- what an answer may be ----------------------------------------------------------------------------------------

    def least(self) -> dict[int, int]:
        """What has been acknowledged by now: an answer to a question that is asked now has it."""
        with self._lock:
            return {number: bucket.acknowledged for number, bucket in self._buckets.items()}

    def span(self, least: Mapping[int, int]) -> Span:
        """From what was acknowledged when the question was asked to what has been sent by now."""
        with self._lock:
            return {number: (least[number], len(bucket.changes)) for number, bucket in self._buckets.items()}

    def span_at(self, time_ms: int) -> Span:
        """What an answer as of a time must and may have."""
        with self._lock:
            return {
                number: (_before(bucket.done_at, time_ms), _before(bucket.sent_at, time_ms + 1))
                for number, bucket in self._buckets.items()
            }

    def anything(self) -> Span:
        """Any prefix."""
        return self.span(dict.fromkeys(self._buckets, 0))

    def check(
        self, rows: Iterable[Mapping[str, Any]], span: Span, keeps: Callable[[int], bool] = lambda _: True
    ) -> dict[int, list[int]]:
        """The prefixes of each bucket that these rows are; AssertionError with what is wrong where they are none."""
        by_bucket: dict[int, list[tuple[int, int]]] = {number: [] for number in self._buckets}
        for row in rows:
            if keeps(row["id"]):
                by_bucket[self._bucket_of[row["id"]]].append((row["id"], row["seq"]))
        return {
            number: self._prefixes(number, Counter(found), span[number], keeps) for number, found in by_bucket.items()
        }

    def _prefixes(
        self, number: int, found: Counter[tuple[int, int]], span: tuple[int, int], keeps: Callable[[int], bool]
    ) -> list[int]:
        low, high = span
        state = _Rows(self.keyed, keeps)
        changes = self._buckets[number].changes
        for change in changes[:low]:
            state.apply(change)
        same = [low] if dict.__eq__(state.rows, found) else []  # quicker than that of Counter; neither holds zeros
        for count, change in enumerate(changes[low:high], low + 1):
            state.apply(change)
            same += [count] if dict.__eq__(state.rows, found) else []
        if not same:
            raise AssertionError(self._nearest(number, found, span, keeps))
        return same

    def _nearest(
        self, number: int, found: Counter[tuple[int, int]], span: tuple[int, int], keeps: Callable[[int], bool]
    ) -> str:
        """What is wrong with rows, told by the prefix that they are most like."""
        low, high = span
        state = _Rows(self.keyed, keeps)
        changes = self._buckets[number].changes
        best: tuple[int, int, Counter[tuple[int, int]], Counter[tuple[int, int]]] | None = None
        for count in range(high + 1):
            if count:
                state.apply(changes[count - 1])
            if count >= low:
                missing, more = state.rows - found, found - state.rows
                if best is None or missing.total() + more.total() < best[0]:
                    best = missing.total() + more.total(), count, missing, more
        assert best is not None
        _, count, missing, more = best
        return "\n".join(
            [
                f"bucket {number}: {found.total()} rows are no prefix of history between changes {low} and {high};",
                f"  they are most like that of {count} changes,",
                f"  but {missing.total()} rows are missing: (id, seq) {sorted(missing, key=_seq)[:_SHOWN]}",
                f"  and {more.total()} are too many: (id, seq) {sorted(more, key=_seq)[:_SHOWN]}",
            ]
        )

    def are_written(self, number: int, start: int, rows: list[tuple[int, int]]) -> bool:
        """Whether these are the first rows that a bucket's changes have written from some change on, in order."""
        written = ((c.id, c.seq) for c in self._buckets[number].changes[start:] if not c.is_delete)
        return list(itertools.islice(written, len(rows))) == rows

    def bucket_of(self, id_: int) -> int:
        """The bucket of a key."""
        return self._bucket_of[id_]


class _Rows:
    """The rows after some changes."""

    def __init__(self, keyed: bool, keeps: Callable[[int], bool]) -> None:
        self._keyed = keyed
        self._keeps = keeps
        self._last: dict[int, int] = {}
        self.rows: Counter[tuple[int, int]] = Counter()

    def apply(self, change: Change) -> None:
        if not self._keeps(change.id):
            return
        if self._keyed and (before := self._last.pop(change.id, None)) is not None:
            del self.rows[change.id, before]
        if not change.is_delete:
            self.rows[change.id, change.seq] += 1
            if self._keyed:
                self._last[change.id] = change.seq


def _before(events: list[tuple[int, int]], time_ms: int) -> int:
    """The count of the last event before a time."""
    at = bisect.bisect_left(events, (time_ms, -1))
    return events[at - 1][1] if at else 0


def _seq(row: tuple[int, int]) -> int:
    return row[1]
