"""Lane: one bucket's batches of one writer, in order, each stored once. Decides; sends nothing.

    waiting    encoded or still being encoded; batches that must go again stand in front, by sequence
    in flight  sent, not answered
    settled    acknowledged, or failed for good

A batch gets its sequence when it first leaves and keeps it however often it leaves again, so that the server can tell
a repetition. Only when the server no longer knows the writer are all remaining batches renumbered under a fresh id.
"""

from __future__ import annotations

import enum
from collections import deque
from dataclasses import dataclass
from typing import Protocol

from lakeward.errors import ErrorCode, RetriableError
from lakeward.model.bucket import TableBucket
from lakeward.records.batch.batch_header import NO_SEQUENCE, NO_WRITER

SEQUENCES = 1 << 31


class Verdict(enum.Enum):
    """What an answer means for a batch."""

    STORED = "stored"
    AGAIN = "send again"
    RENUMBER = "send again under a fresh writer id"
    FAILED = "failed for good"


class Sealable(Protocol):
    """An encoded batch that lacks only its sender's name and number."""

    @property
    def size(self) -> int:
        """Bytes of the batch, its header included."""
        ...

    def seal(self, schema_id: int, writer_id: int, sequence: int) -> memoryview | bytearray:
        """The whole batch; one that goes again is sealed again."""
        ...


@dataclass(slots=True, eq=False)
class Outgoing:
    """A batch on its way. `rows` is None until it is encoded."""

    row_count: int
    raw_bytes: int
    rows: Sealable | None = None
    encoded_bytes: int = 0
    sequence: int = NO_SEQUENCE
    attempts: int = 0
    first_sent_s: float = 0.0


class Lane:
    """The ordered stream of one writer into one bucket."""

    def __init__(
        self,
        bucket: TableBucket,
        partition: str | None,
        writer_id: int,
        next_sequence: int = 0,
        in_flight_max: int = 5,
    ) -> None:
        self.bucket = bucket
        self.partition = partition
        self.writer_id = writer_id
        self.next_sequence = next_sequence
        self.renumbering = False
        self._in_flight_max = in_flight_max if writer_id != NO_WRITER else 1  # unnumbered batches must not overtake
        self._waiting: deque[Outgoing] = deque()
        self._in_flight: dict[Outgoing, None] = {}
        self._last_stored = next_sequence - 1

    @property
    def unsettled_batches(self) -> int:
        """Batches neither stored nor failed."""
        return len(self._waiting) + len(self._in_flight)

    def add(self, batch: Outgoing) -> None:
        """Queue a batch behind all others."""
        self._waiting.append(batch)

    def take(self) -> Outgoing | None:
        """The next batch to send, now counted as in flight; None while there is none or it must wait."""
        if self.renumbering or not self._waiting or len(self._in_flight) >= self._in_flight_max:
            return None
        batch = self._waiting[0]
        if batch.rows is None:
            return None
        self._waiting.popleft()
        if self.writer_id != NO_WRITER and batch.sequence == NO_SEQUENCE:
            batch.sequence = self.next_sequence
            self.next_sequence = (batch.sequence + 1) % SEQUENCES
        batch.attempts += 1
        self._in_flight[batch] = None
        return batch

    def settle(self, batch: Outgoing) -> None:
        """The server has the batch."""
        del self._in_flight[batch]
        if batch.sequence != NO_SEQUENCE:
            self._last_stored = batch.sequence

    def take_refusal(self, batch: Outgoing, code: ErrorCode, attempts_max: int) -> Verdict:
        """Decide what an error means for a batch in flight, and put it where it belongs."""
        verdict = self._judge(batch, code)
        if verdict is Verdict.AGAIN and batch.attempts >= attempts_max:
            verdict = Verdict.FAILED
        if verdict is Verdict.STORED:
            self.settle(batch)
            return verdict
        del self._in_flight[batch]
        if verdict is not Verdict.FAILED:
            self._put_back(batch)
        if verdict is Verdict.RENUMBER:
            self.renumbering = True
        return verdict

    def _judge(self, batch: Outgoing, code: ErrorCode) -> Verdict:
        match code:
            case ErrorCode.DUPLICATE_SEQUENCE:
                return Verdict.STORED
            case ErrorCode.UNKNOWN_WRITER_ID:
                return Verdict.RENUMBER
            case ErrorCode.OUT_OF_ORDER_SEQUENCE:
                return self._judge_order(batch)
            case ErrorCode.FENCED_LEADER_EPOCH:
                return Verdict.AGAIN
            case _:
                return Verdict.AGAIN if issubclass(code.kind, RetriableError) else Verdict.FAILED

    def _judge_order(self, batch: Outgoing) -> Verdict:
        if self.renumbering:
            return Verdict.AGAIN
        ahead = (batch.sequence - self._last_stored) % SEQUENCES
        if ahead == 0 or ahead > SEQUENCES // 2:
            return Verdict.STORED  # the server has later ones already
        if ahead > 1:
            return Verdict.AGAIN  # a predecessor is still to be stored
        # The server has forgotten this writer. Only a batch it refused at the first attempt is surely not stored.
        return Verdict.RENUMBER if batch.attempts == 1 else Verdict.FAILED

    def _put_back(self, batch: Outgoing) -> None:
        place = 0
        while place < len(self._waiting) and self._precedes(self._waiting[place], batch):
            place += 1
        self._waiting.insert(place, batch)

    def _precedes(self, one: Outgoing, other: Outgoing) -> bool:
        if one.sequence == NO_SEQUENCE or other.sequence == NO_SEQUENCE:
            return False
        return (other.sequence - one.sequence) % SEQUENCES < SEQUENCES // 2

    @property
    def can_renumber(self) -> bool:
        """Whether a fresh writer id is wanted and nothing is in flight under the old one."""
        return self.renumbering and not self._in_flight

    def renumber(self, writer_id: int) -> None:
        """Go on under a fresh writer id, from sequence 0."""
        assert self.can_renumber
        self.writer_id, self.next_sequence, self._last_stored = writer_id, 0, -1
        self.renumbering = False
        for batch in self._waiting:
            batch.sequence = NO_SEQUENCE
            batch.attempts = 0

    def drop_waiting(self) -> list[Outgoing]:
        """Give up what is not in flight."""
        dropped = list(self._waiting)
        self._waiting.clear()
        return dropped
