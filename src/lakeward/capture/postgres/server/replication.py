"""ReplicationStream: what the server sends of its log, in bulk, read through a temporary copy of the slot."""

from __future__ import annotations

import os
import select
from dataclasses import dataclass
from itertools import count
from typing import Any

import numpy as np

from lakeward.capture.postgres.decode.message_kernels import KIND, LSN, scan_messages
from lakeward.capture.postgres.decode.messages import status_update
from lakeward.capture.postgres.server.connections import connect
from lakeward.capture.postgres.server.failures import check_answer, failure_of_state, map_failures
from lakeward.capture.postgres.server.server_settings import ServerSettings
from lakeward.capture.postgres.server.slot import Slot
from lakeward.errors import ErrorCode
from lakeward.records.kernels.spans import I64, U8, read_only
from lakeward.runtime.clock import Clock

_BULK_MESSAGES, _BULK_BYTES = 32_768, 8 << 20
_ASK_S, _NUDGE_S = 0.02, 2.0
_numbers = count()


@dataclass(frozen=True, slots=True)
class Bulk:
    """Messages behind each other, and what `scan_messages` says of each."""

    data: U8
    bounds: I64
    found: I64

    def message(self, n: int, head_bytes: int) -> bytes:
        """One message without its head."""
        return bytes(self.data[self.bounds[n] + head_bytes : self.bounds[n + 1]])

    def cut(self, first: int, last: int) -> Bulk:
        """Some messages that follow one another."""
        return Bulk(self.data, self.bounds[first : last + 1], self.found[first:last])


class ReplicationStream:
    """Transactions from `start` on, in the order of their commits. A transaction's place is that of its commit."""

    def __init__(self, settings: ServerSettings, slot: Slot, clock: Clock, start: int) -> None:
        self._settings, self._clock = settings, clock
        #: Every transaction before this has been handed out.
        self.position = start
        self._state = np.zeros(3, np.int64)
        self._left: Bulk | None = None
        self._reached = start
        self._asked_s = 0.0
        self._connection = connect(settings, replicates=True, waits=True)
        self._pg: Any = self._connection.pgconn
        try:
            slot.patiently(lambda: self._begin(start))
        except BaseException:
            self._connection.close()
            raise

    def close(self) -> None:
        """End the connection; the copy of the slot goes with it."""
        self._connection.close()

    def read(self, end: int) -> Bulk | None:
        """The next messages of transactions before `end`; None when there are no more."""
        heard_s = moved_s = self._clock.monotonic()
        while self.position < end:
            if self._left is None and self._reached >= end:
                # The server had read its log so far when it said so, and what it found is behind us.
                self.position = end
                break
            bulk, before = self._left or self._receive(), self._reached
            self._left = None
            now_s = self._clock.monotonic()
            if bulk is not None:
                heard_s = now_s
                ready = self._up_to(bulk, end)
                if ready is not None:
                    return ready
            moved_s = now_s if self._reached > before else moved_s
            if now_s - moved_s > _NUDGE_S:
                moved_s = now_s
                self._nudge()
            if now_s - heard_s > self._settings.read_timeout_s:
                raise ErrorCode.NETWORK.error(
                    f"PostgreSQL at {self._settings.server} sent nothing for {self._settings.read_timeout_s:.0f} s."
                )
        return None

    def _up_to(self, bulk: Bulk, end: int) -> Bulk | None:
        """What of a bulk is before the end, if anything; the rest is kept for the next time."""
        late = np.flatnonzero((bulk.found[:, KIND] == ord("B")) & (bulk.found[:, LSN] >= end))
        if len(late):
            self._left = bulk.cut(int(late[0]), len(bulk.found))
            self.position = end
            bulk = bulk.cut(0, int(late[0]))
        alive = bulk.found[:, KIND] == ord("k")
        if alive.any():
            self._reached = max(self._reached, int(bulk.found[alive, LSN].max()))
        return bulk if (~alive).any() else None

    def _begin(self, start: int) -> None:
        name = f"{self._settings.slot[:30]}_{os.getpid()}_{next(_numbers)}"
        with map_failures(self._settings):
            self._execute(
                f"SELECT pg_copy_logical_replication_slot('{self._settings.slot}', '{name}', true, 'pgoutput')"
            )
            publication = self._settings.publication.replace('"', '""').replace("'", "''")
            self._execute(
                f'START_REPLICATION SLOT "{name}" LOGICAL {lsn_text(start)}'
                f" (proto_version '1', publication_names '\"{publication}\"')"
            )

    def _execute(self, command: str) -> None:
        check_answer(self._pg.exec_(command.encode()), self._settings)

    def _receive(self) -> Bulk | None:
        """What has arrived; waits a moment where nothing has, and asks the server how far it is."""
        with map_failures(self._settings):
            parts, sizes = self._take()
            if not parts:
                self._wait(_ASK_S)
                parts, sizes = self._take()
            if not parts:
                self._tell(wants_reply=True)
                return None
        bounds = np.zeros(len(sizes) + 1, np.int64)
        np.cumsum(sizes, out=bounds[1:])
        data, found = read_only(b"".join(parts)), np.zeros((len(sizes), 5), np.int64)
        scan_messages(data, bounds, self._state, found)
        if self._clock.monotonic() - self._asked_s > 5:
            self._tell(wants_reply=False)
        return Bulk(data, bounds, found)

    def _take(self) -> tuple[list[memoryview], list[int]]:
        parts: list[memoryview] = []
        sizes: list[int] = []
        take, total = self._pg.get_copy_data, 0
        while total < _BULK_BYTES and len(parts) < _BULK_MESSAGES:
            size, data = take(1)
            if size > 0:
                parts.append(data)
                sizes.append(size)
                total += size
            elif size == 0:
                if not self._has_input():
                    break
                self._pg.consume_input()
            else:
                self._end_of_copy()
        return parts, sizes

    def _has_input(self) -> bool:
        return bool(select.select([self._pg.socket], [], [], 0)[0])

    def _wait(self, seconds: float) -> None:
        select.select([self._pg.socket], [], [], seconds)

    def _end_of_copy(self) -> None:
        answer = self._pg.get_result()
        if answer is not None:
            check_answer(answer, self._settings)
        raise failure_of_state(None, "the server ended the stream", self._settings)

    def _tell(self, *, wants_reply: bool) -> None:
        self._asked_s = self._clock.monotonic()
        self._pg.put_copy_data(status_update(self.position, wants_reply=wants_reply))
        self._pg.flush()

    def _nudge(self) -> None:
        """The end may lie inside a record that was never finished: a record behind it brings us there."""
        with map_failures(self._settings), connect(self._settings) as connection:
            connection.execute("SELECT pg_logical_emit_message(true, 'lakeward', '')")


def lsn_text(lsn: int) -> str:
    """An LSN as PostgreSQL writes it."""
    return f"{lsn >> 32:X}/{lsn & 0xFFFFFFFF:X}"


def lsn_of(text: str) -> int:
    """The LSN of such a text."""
    high, _, low = text.partition("/")
    return int(high, 16) << 32 | int(low, 16)
