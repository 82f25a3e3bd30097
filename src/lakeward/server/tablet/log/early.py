"""Batches that came too early.

A client has up to five batches of one writer under way, and its tasks race for the socket: a batch may overtake the
one before it. Such a batch waits; when the gap closes it is written, when it does not it is refused.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, NamedTuple

from lakeward.errors import ErrorCode, LakewardError
from lakeward.model.bucket import TableBucket
from lakeward.server.tablet.requests.pending import Done, Outcome
from lakeward.storage.log.writer_state import next_sequence

#: Writes a batch that waited, or says how.
Write = Callable[..., Any]


class Early(NamedTuple):
    """A batch that waits."""

    data: memoryview
    last_sequence: int
    write: Write
    done: Done
    timer: asyncio.TimerHandle


class EarlyBatches:
    """Who waits for which predecessor. Memory and time are bounded."""

    def __init__(self, loop: asyncio.AbstractEventLoop, wait_ms: int, bytes_max: int = 256 << 20) -> None:
        self._loop = loop
        self._wait_ms = wait_ms
        self._bytes_max = bytes_max
        self._bytes = 0
        self._waiting: dict[tuple[TableBucket, int, int], Early] = {}

    def wait(
        self,
        bucket: TableBucket,
        writer_id: int,
        sequences: tuple[int, int],
        data: memoryview,
        timeout_ms: int,
        write: Write,
        done: Done,
    ) -> None:
        """Keep a batch (first and last sequence) until its predecessor has come; its bytes are copied."""
        first, last = sequences
        if self._bytes + len(data) > self._bytes_max:
            raise out_of_order(bucket, writer_id, first)
        key = (bucket, writer_id, first)
        twin = self._waiting.get(key)
        if twin is not None:  # sent twice while it waits: one batch, two answers
            self._waiting[key] = twin._replace(done=_both(twin.done, done))
            return
        kept = memoryview(bytearray(data))
        wait_s = min(self._wait_ms, max(timeout_ms, 0)) / 1000
        timer = self._loop.call_later(wait_s, self._give_up, key)
        self._waiting[key] = Early(kept, last, write, done, timer)
        self._bytes += len(kept)

    def follow(self, bucket: TableBucket, writer_id: int, sequence: int) -> None:
        """Write what waited for the batch that has just been written."""
        while (early := self.take(bucket, writer_id, sequence)) is not None:
            try:
                early.done(early.write(early.data))
            except LakewardError as wrong:
                early.done(wrong)
                return
            sequence = early.last_sequence

    def take(self, bucket: TableBucket, writer_id: int, sequence: int) -> Early | None:
        """The batch that waited for this one; whoever takes it writes it and says so."""
        if not self._waiting:
            return None
        early = self._waiting.pop((bucket, writer_id, next_sequence(sequence)), None)
        if early is not None:
            early.timer.cancel()
            self._bytes -= len(early.data)
        return early

    def _give_up(self, key: tuple[TableBucket, int, int]) -> None:
        early = self._waiting.pop(key, None)
        if early is not None:
            self._bytes -= len(early.data)
            early.done(out_of_order(*key))


def _both(first: Done, second: Done) -> Done:
    def finish_both(outcome: Outcome) -> None:
        first(outcome)
        second(outcome)

    return finish_both


def out_of_order(bucket: TableBucket, writer_id: int, sequence: int) -> LakewardError:
    """The refusal of a batch that is not the next one of its writer."""
    return ErrorCode.OUT_OF_ORDER_SEQUENCE.error(
        f"Batch {sequence} of writer {writer_id} is not the next one for {bucket}."
    )
